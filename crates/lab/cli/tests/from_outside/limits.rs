//! What a shell or the system may deny to `lab`: it measures without it, or says what is missing.

use std::{process::Command, thread::scope};

use crate::{
    compare::{server, short},
    toy::{Toy, ends, prints, says},
};

/// What a shell does before it becomes `lab compare`; then the exit code, and what is part of the message.
const SHELLS: [(&str, i32, &str); 8] = [
    ("ulimit -f 1;", 2, "json: File too large"),
    ("ulimit -n 24;", 2, "and only 24 are allowed: raise the hard limit"),
    ("mkdir gone && cd gone && rmdir ../gone;", 2, "cannot read the current directory"),
    (r"mv crates $(printf 'b\377d') && cd b*d;", 3, "  Results    "),
    ("exec < /dev/null; export HOME=/nowhere TMPDIR=/tmp;", 3, "  Results    "),
    ("exec taskset -c 0", 3, "  Results    "),
    ("exec env -i", 3, "  Results    "),
    ("exec <&- >&-;", 3, "  Results    "),
];

#[test]
fn what_a_shell_denies_is_done_without_or_named() {
    let check = |&(prelude, code, message): &(&str, i32, &str)| {
        let toy = Toy::new(&[]);
        let lab = short(&toy, &server(&toy, ""));
        let mut shell = Command::new("sh");
        let script = if prelude.ends_with(';') {
            format!(r#"{prelude} exec "$@""#)
        } else {
            format!(r#"{prelude} "$@""#)
        };
        shell.args(["-c", &script, "sh"]).arg(lab.get_program()).args(lab.get_args());
        let output = shell.current_dir(toy.path(".")).output().unwrap();
        ends(&output, code);
        says(&output, message);
        if prelude.contains("-f") {
            // What cannot be kept is printed.
            prints(&output, "throughput (decides)");
        }
        assert!(toy.all_servers_ended(), "{prelude}");
    };
    scope(|scope| SHELLS.iter().for_each(|shell| drop(scope.spawn(move || check(shell)))));
}
