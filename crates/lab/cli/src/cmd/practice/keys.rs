//! Keys that the reader presses while something else goes on. Without a terminal, the first letter of a line is a key.

use std::{
    collections::VecDeque,
    io::{BufRead as _, IsTerminal as _, Read as _, stdin},
    sync::mpsc::{Receiver, TryRecvError, channel},
    thread::Builder,
    time::Duration,
};

use anyhow::Context as _;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};

/// How often files and keys are looked at. Nobody notices a wait of this length.
pub const POLL: Duration = Duration::from_millis(100);
/// Ends the loop, as the end of the input does.
pub const QUIT: char = 'q';
/// Ctrl-D, which a terminal sends in place of the end of the input.
const END: char = '\u{4}';

#[derive(Debug)]
pub struct Keys {
    /// Where there is no terminal.
    lines: Option<Receiver<char>>,
    pressed: VecDeque<char>,
    is_over: bool,
}

impl Keys {
    /// # Errors
    ///
    /// If no thread can be started that reads the lines.
    pub fn open() -> anyhow::Result<Self> {
        let mut lines = None;
        if !stdin().is_terminal() {
            let (send, received) = channel();
            let read = move || {
                let typed = stdin().lock().lines().map_while(Result::ok);
                // It ends with the input, or with the program.
                typed.filter_map(|line| line.chars().next()).all(|key| send.send(key).is_ok());
            };
            Builder::new().spawn(read).context("cannot read standard input")?;
            lines = Some(received);
        }
        Ok(Self { lines, pressed: VecDeque::new(), is_over: false })
    }

    /// The oldest key that was pressed and not asked for; [`QUIT`] after the last one.
    pub fn next(&mut self, mode: &KeyMode) -> Option<char> {
        self.collect(mode);
        self.pressed.pop_front().or_else(|| self.is_over.then_some(QUIT))
    }

    /// Completes when [`QUIT`] is pressed. The end of the input is for [`Self::next`], after the work.
    pub async fn quit(&mut self, mode: &KeyMode) {
        while !self.pressed.contains(&QUIT) {
            tokio::time::sleep(POLL).await;
            self.collect(mode);
        }
    }

    /// Only in this mode, because a read would wait in the usual one.
    fn collect(&mut self, _: &KeyMode) {
        match &self.lines {
            Some(lines) => loop {
                match lines.try_recv() {
                    Ok(key) => self.pressed.push_back(key.to_ascii_lowercase()),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        self.is_over = true;
                        break;
                    }
                }
            },
            None => {
                let mut bytes = [0; 64];
                // Nothing is there most of the time.
                let count = stdin().lock().read(&mut bytes).unwrap_or(0);
                let keys = bytes[..count].iter().map(|byte| char::from(*byte).to_ascii_lowercase());
                self.pressed.extend(keys.map(|key| if key == END { QUIT } else { key }));
            }
        }
    }
}

/// A terminal that passes on each key at once, shows none of them, and has no end of its input. It is as before when
/// this is dropped. Ctrl-C stays a signal.
#[derive(Debug)]
pub struct KeyMode(Option<Termios>);

impl KeyMode {
    /// # Errors
    ///
    /// If the terminal can't be set.
    pub fn begin() -> anyhow::Result<Self> {
        if !stdin().is_terminal() {
            return Ok(Self(None));
        }
        let before = tcgetattr(stdin()).context("cannot read the settings of the terminal")?;
        let mut keys = before.clone();
        keys.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
        // A read returns what is there, and doesn't wait.
        for waits in [SpecialCharacterIndices::VMIN, SpecialCharacterIndices::VTIME] {
            keys.control_chars[waits as usize] = 0;
        }
        tcsetattr(stdin(), SetArg::TCSANOW, &keys).context("cannot set the terminal")?;
        Ok(Self(Some(before)))
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // What was typed and not read is not for the shell.
            let _ = tcsetattr(stdin(), SetArg::TCSAFLUSH, before);
        }
    }
}
