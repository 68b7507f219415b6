use crate::world::World;

#[test]
fn the_tour_runs_to_its_end_and_leaves_nothing_behind() {
    let world = World::with_plan();
    let before = std::fs::read(world.store()).unwrap();
    let temporary = world.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let toured =
        crate::world::ran(world.command().env("TMPDIR", &temporary).env("PLANWRIGHT_SESSION", "short").arg("tour"));
    let toured = toured
        .done()
        .says("$ planwright plan approve 1 --digest")
        .says("(exit code 5)")
        .says("step 4: Delete the old backups")
        .says("COMPLETED")
        .says("Every journal is whole")
        .says("[Planned]")
        .says("left out by the approval")
        .says("That was it");
    assert_eq!(toured.stderr, "");
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0);
    assert_eq!(std::fs::read(world.store()).unwrap(), before, "the person's own store is not touched");
}

#[test]
fn the_tour_has_no_form_for_programs() {
    let error = World::new().run("tour --json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
}
