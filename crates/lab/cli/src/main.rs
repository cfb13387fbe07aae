//! The binary `lab`; see the library.

fn main() -> std::process::ExitCode {
    lab::run()
}
