//! Which reason is given.

use super::super::gate::{Gate, GateReason, LeftOut, furthest, resolved};
use super::super::types::{Folder, Resolution};
use super::repository;

fn left_out(gates: &[Gate]) -> Vec<LeftOut> {
    let left = |(folder, &gate): (usize, &Gate)| LeftOut {
        folder,
        name: format!("folder{folder}"),
        reason: GateReason::new(gate, ""),
    };
    gates.iter().enumerate().map(left).collect()
}

#[track_caller]
fn check(gates: &[Gate], expected: Gate, detail: &str) {
    let reason = furthest(&left_out(gates));
    assert_eq!((reason.gate, reason.detail.as_str()), (expected, detail), "{gates:?}");
}

#[test]
fn none_is_only_said_of_all() {
    use Gate::*;
    check(&[], NoRepository, "");
    check(&[NoRepository, NoRepository], NoRepository, "");
    check(&[NoRepository, NoneResolvable], NoneResolvable, "folder1");
    check(&[NoneIndexable, NoneResolvable], NoneIndexable, "folder0");
    check(&[NoneIndexable, StatusUnknown, NotAuthorized], StatusUnknown, "folder1");
    check(&[NotAuthorized, NoneIndexable], NotAuthorized, "folder0");
    check(&[StillBuilding, StillChecking], StillChecking, "folder1");
    check(&[StillBuilding, IndexingFailed], IndexingFailed, "folder1");
    check(&[DiffUnknown, StillBuilding], DiffUnknown, "folder0");
    check(&[StillBuilding; 5], StillBuilding, "folder0; folder1; folder2; and 2 more");
}

#[test]
fn each_gate_has_a_name_and_a_message_of_its_own() {
    use Gate::*;
    let all = [
        SettingOff,
        NoRepository,
        StillChecking,
        NoneResolvable,
        NoneIndexable,
        StatusUnknown,
        NotAuthorized,
        IndexingFailed,
        StillBuilding,
        DiffUnknown,
        DiffTooLarge,
        SearchFailed,
        Cancelled,
    ];
    for (at, gate) in all.iter().enumerate() {
        for other in &all[..at] {
            assert_ne!(gate.name(), other.name());
            assert_ne!(gate.message(), other.message());
        }
        let message = GateReason::new(*gate, "").to_string();
        assert!(!message.ends_with('.') && message.starts_with(char::is_lowercase), "{message}");
    }
}

#[test]
fn folders_are_parted_by_what_is_known_of_them() {
    let folder = |name: &str, resolution| Folder { name: name.into(), resolution };
    let ours = repository(std::path::Path::new("/work/app"));
    let folders = [
        folder("a", Resolution::NoRepository),
        folder("b", Resolution::Resolved(ours.clone())),
        folder("c", Resolution::Checking),
        folder("d", Resolution::Unresolvable { reason: "it has no remote".into() }),
    ];
    let (known, left) = resolved(&folders);
    assert_eq!(known, [(1, &ours)]);
    let left: Vec<_> = left.iter().map(|left| (left.folder, left.reason.gate)).collect();
    assert_eq!(
        left,
        [(0, Gate::NoRepository), (2, Gate::StillChecking), (3, Gate::NoneResolvable)]
    );
}
