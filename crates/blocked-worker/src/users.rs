//! Who may log in, and the check of a password.

use std::{collections::HashMap, sync::Arc};

use argon2::{
    Argon2, Params, PasswordHasher as _, PasswordVerifier as _,
    password_hash::{self, phc::PasswordHash},
};
use axum::http::StatusCode;

use crate::{Answer, Login, Options};

/// The users by name, each with the hash of the password. Clones share them.
#[derive(Clone)]
pub struct Users {
    hashes: Arc<HashMap<&'static str, PasswordHash>>,
    /// Checked for a user who doesn't exist, so that the time of an answer doesn't say who does.
    nobody: Arc<PasswordHash>,
}

impl Users {
    /// The users that every variant starts with. Their salts are fixed; a real service draws them.
    pub fn first(options: Options) -> password_hash::Result<Self> {
        let params = Params::new(options.memory_kib, options.passes, 1, None)?;
        let hasher = Argon2::from(params);
        let hash = |password: &str, salt: &[u8; 16]| {
            hasher.hash_password_with_salt(password.as_bytes(), salt)
        };
        let hashes = HashMap::from([
            ("ada", hash("difference engine", b"the salt of ada.")?),
            ("grace", hash("nanoseconds", b"the salt of gra.")?),
        ]);
        Ok(Self { hashes: Arc::new(hashes), nobody: Arc::new(hash("", b"the salt of nob.")?) })
    }

    /// Checks a password, which takes as long as making its hash: tens of milliseconds.
    ///
    /// Not inlined, so that a profile shows it under its own name.
    #[inline(never)]
    pub fn check(&self, login: &Login) -> Answer {
        case_probe::work("hashes");
        let found = self.hashes.get(login.user.as_str());
        let hash = found.unwrap_or(&self.nobody);
        let verified = Argon2::default().verify_password(login.password.as_bytes(), hash);
        match (found, verified) {
            (Some(_), Ok(())) => Ok(format!("welcome, {}\n", login.user)),
            _ => Err((StatusCode::UNAUTHORIZED, "wrong user or password\n")),
        }
    }
}
