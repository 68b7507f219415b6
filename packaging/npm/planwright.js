#!/usr/bin/env node
// Starts the program of the package for this platform, in this terminal, with its exit code.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `planwright-${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${platform}/bin/planwright`);
  } catch {
    console.error(`planwright: there is no package ${platform}. Planwright runs on the platforms whose packages npm installs beside it;`);
    console.error("if npm was told to omit optional packages, install it again without that.");
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`planwright: ${error.message}`);
  process.exit(1);
});

// A terminal sends its signals to both. What is sent to this process alone is passed on, and the program says when it ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    if (!process.stdin.isTTY || signal === "SIGTERM") child.kill(signal);
  });
}
child.on("exit", (code, signal) => {
  process.exit(signal === null ? code : 128 + constants.signals[signal]);
});
