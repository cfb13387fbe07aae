//! Whether `lab compare` measures what was asked for: what it waits for, what it runs, and what it compares.

use std::process::Output;

use crate::toy::{CALM, SHORT, Toy, ends, needs_python, prints, server, stderr, with_itself};

/// Fails unless `lab` ended with an error that has these words, whatever the length of its lines.
#[track_caller]
fn fails(output: &Output, message: &str) {
    ends(output, 2);
    let said = stderr(output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(message), "{message}: {said}");
}

/// A server in Python that answers each request with these bytes, and then does this.
fn answering(toy: &Toy, answer: &str, then: &str) -> String {
    let code = format!(
        "import os, socket, sys, time, threading\n\
         open('pids/' + str(os.getpid()), 'w').close()\n\
         def serve(c):\n    while c.recv(4096):\n        c.sendall({answer})\n        {then}\n\
         s = socket.create_server(('127.0.0.1', int(sys.argv[1])), backlog=100)\n\
         while True: threading.Thread(target=serve, args=s.accept()[:1], daemon=True).start()\n"
    );
    let name = format!("server-{}.py", toy.files(".").len());
    toy.write(&name, &code);
    format!("python3 {name} {{port}}")
}

/// What `lab` says after a patience in which the server listens, and that many seconds: on a busy machine, Python takes
/// a while to start.
fn once_it_listens(command: &str, lab: impl Fn(u32) -> Output) -> (u32, Output) {
    let is_enough = |output: &Output| {
        !command.starts_with("python3") || !stderr(output).contains("does not listen on ")
    };
    for seconds in [2, 8] {
        let output = lab(seconds);
        if is_enough(&output) {
            return (seconds, output);
        }
    }
    (32, lab(32))
}

#[test]
fn a_message_names_what_was_waited_for_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    let silent = answering(&toy, "b''", "time.sleep(99)");
    let head = r"b'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nfor ever '";
    let stream = answering(&toy, head, "time.sleep(99)");
    toy.write(
        "unix.py",
        "import os, socket, time\nopen('pids/' + str(os.getpid()), 'w').close()\n\
         s = socket.socket(socket.AF_UNIX)\ns.bind('it.sock')\ns.listen()\ntime.sleep(99)\n",
    );
    let patient = "--patience N waits for N seconds";
    for (command, args, messages) in [
        ("sleep 9{port}", &[][..], &["does not listen on port ", "after S s", patient][..]),
        ("sleep 9", &[], &["does not listen on any port after S s", "give it a port by `{port}`"]),
        ("python3 unix.py", &[], &["listens only on the unix socket it.sock"]),
        (&silent, &[], &["GET /: no answer within S s", patient]),
        (&silent, &["--ready=/"], &["is not ready after S s", patient]),
        (
            &stream,
            &[],
            &["no answer within S s", "9 bytes of its body came, but not its end", patient],
        ),
    ] {
        let (seconds, output) = once_it_listens(command, |seconds| {
            let patience = format!("--patience={seconds}");
            with_itself(&toy, command, &[&[&*patience], args].concat()).output().unwrap()
        });
        for message in messages {
            fails(&output, &message.replace("S s", &format!("{seconds} s")));
        }
        let is_given = command.contains("{port}") && stderr(&output).contains("give it a port");
        assert!(!is_given, "{command}: it has one");
        toy.wait_until_all_servers_ended();
    }
}

#[test]
fn what_only_a_shell_can_do_is_not_an_argument() {
    let toy = Toy::new(&[]);
    for command in ["./server > log", "cd x && ./server", "~/server", "./server $PWD", "./server &"]
    {
        fails(&with_itself(&toy, command, &[]).output().unwrap(), "sh -c '");
    }
}

#[test]
fn a_server_without_the_library_that_it_should_preload_is_an_error() {
    let toy = Toy::new(&[]);
    let server = server(&toy, "");
    let typo = format!("LD_PRELOAD=libjemallox.so.2 {server}");
    let output = toy.run(&["compare", &server, &typo, "--get=/"]);
    fails(&output, "candidate runs without the library `libjemallox.so.2`, which LD_PRELOAD names");
    fails(&output, "ERROR: ld.so: object 'libjemallox.so.2' from LD_PRELOAD cannot be preloaded");
}

#[test]
fn the_same_page_compressed_differently_is_the_same_answer_with_python() {
    needs_python();
    let toy = Toy::new(&[]);
    let page = |level: i32, last: &str, label: &str| {
        let body = format!("gzip.compress(b'<p>hello</p>' * 900 + b'{last}', {level}, mtime=0)");
        let head = format!(r"b'HTTP/1.1 200 OK\r\n{label}content-length: %d\r\n\r\n%s'");
        let answer =
            format!("(lambda it: {head} % (len(it), it))(__import__('gzip').{})", &body[5..]);
        answering(&toy, &answer, "pass")
    };
    let label = r"content-encoding: gzip\r\n";
    let [fast, best, other] =
        [(1, "!"), (9, "!"), (9, "?")].map(|(it, last)| page(it, last, label));
    let args = [&SHORT[..], &CALM[..]].concat();
    let output = toy.run(&[&["compare", &fast, &best, "--get=/"], &args[..]].concat());
    // Two pairs are too few for a verdict.
    ends(&output, 3);
    prints(&output, "with the same body, encoded in ");
    let output = toy.run(&[&["compare", &fast, &other, "--get=/"], &args[..]].concat());
    fails(&output, "another body of 10801 bytes, decoded");
    // The same bytes, but a browser would show them as they are.
    let unlabelled = page(1, "!", "");
    let output = toy.run(&[&["compare", &fast, &unlabelled, "--get=/"], &args[..]].concat());
    fails(&output, " bytes instead of 10801, decoded");
}
