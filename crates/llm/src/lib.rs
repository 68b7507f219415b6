//! Model providers behind the port of the engine.
