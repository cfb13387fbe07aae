//! The doctor at a healthy machine, and at one with each fault alone.

use super::{Status, examine, fake::Fake, faults::FAULTS};

#[test]
fn a_healthy_machine_is_left_in_peace() {
    for finding in examine(&Fake::healthy().system) {
        assert_eq!((finding.status, &finding.mend), (Status::Ok, &None), "{finding:?}");
    }
}

#[test]
fn each_fault_is_noticed_where_it_is_and_nowhere_else() {
    for (index, (damage, topic, status, said)) in FAULTS.into_iter().enumerate() {
        let mut fake = Fake::healthy();
        damage(&mut fake);
        let finding = fake.finding(topic);
        let all = format!("{} {}", finding.found, finding.mend.clone().unwrap_or_default());
        assert_eq!(finding.status, status, "fault {index}: {finding:?}");
        assert!(all.contains(said), "fault {index}: {finding:?}");
        let worse = examine(&fake.system);
        let others = worse.iter().filter(|other| other.status > Status::Note);
        let others: Vec<_> = others.filter(|other| other.topic != topic).collect();
        assert!(others.is_empty(), "fault {index}: {others:?}");
    }
}

#[test]
fn root_profiles_whatever_the_setting() {
    let fake = Fake::healthy();
    fake.write("proc/self/status", "Uid:\t0\t0\t0\t0\n");
    fake.write("proc/sys/kernel/perf_event_paranoid", "4");
    fake.write("proc/sys/kernel/kptr_restrict", "1");
    assert_eq!(fake.finding("perf rights").status, Status::Ok);
    assert_eq!(fake.finding("kernel names").status, Status::Ok);
}

#[test]
fn ubuntu_has_its_own_name_for_perf() {
    let fake = Fake::healthy();
    fake.remove("bin/perf");
    fake.write("etc/os-release", "NAME=Ubuntu\nID=ubuntu\n");
    assert_eq!(fake.finding("perf").mend.unwrap(), "sudo apt-get install linux-tools-generic");
}

#[test]
fn a_machine_that_shows_nothing_is_asked_nothing_more() {
    let mut fake = Fake::healthy();
    for gone in ["proc", "sys", "bin"] {
        fake.remove(gone);
    }
    fake.system.cores = None;
    fake.system.open_files = None;
    let findings = examine(&fake.system);
    // As on a system without procfs: it says so, and calls nothing a fault that it cannot see.
    assert!(findings.iter().all(|finding| finding.status <= Status::Note), "{findings:?}");
    assert_eq!(fake.finding("perf").found, "perf is for Linux only");
}

#[test]
fn all_that_is_found_fits_on_a_line_of_eighty_columns() {
    let found = FAULTS.into_iter().map(|(damage, topic, ..)| {
        let mut fake = Fake::healthy();
        damage(&mut fake);
        fake.finding(topic).found
    });
    let width = 80 - super::report::INDENT;
    let too_long: Vec<_> = found.filter(|found| found.chars().count() > width).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
}
