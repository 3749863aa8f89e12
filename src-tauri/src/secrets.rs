//! Keys in the operating system's key store, with the fallbacks that a person has chosen: a file of
//! the data folder that only this account can read (not encrypted, and said so), or this run only.

use engine::report::fault;
use engine::secrets::{SecretStore, SessionSecrets};
use engine::view::settings::KeyStore;
use engine::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the program in the operating system's key store.
const SERVICE: &str = "palimpsest";

/// Name of the file of keys in the data folder.
const FILE: &str = "keys.json";

/// The stores of this machine.
pub(crate) struct Secrets {
    file: PathBuf,
    session: SessionSecrets,
}

impl Secrets {
    /// Keys for the program over one data folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { file: folder.join(FILE), session: SessionSecrets::default() }
    }

    fn read_file(&self) -> Result<BTreeMap<String, String>> {
        match std::fs::read(&self.file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(source) => Err(self.io(source)),
        }
    }

    fn write_file(&self, keys: &BTreeMap<String, String>) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(keys)
            .map_err(|error| self.io(std::io::Error::other(error)))?;
        private_file(&self.file, &bytes).map_err(|source| self.io(source))
    }

    fn io(&self, source: std::io::Error) -> Error {
        Error::Io { path: self.file.display().to_string(), source }
    }
}

/// Writes a file that only this account can read: beside, then renamed.
fn private_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let beside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

fn entry(name: &str) -> Result<keyring::Entry> {
    keyring::Entry::new(SERVICE, name).map_err(unavailable)
}

fn unavailable(error: keyring::Error) -> Error {
    fault("keychain_unavailable").detail(error).into()
}

impl SecretStore for Secrets {
    fn has_keychain(&self) -> bool {
        keyring::Entry::new(SERVICE, "probe").is_ok()
    }

    fn put(&self, name: &str, key: &str, store: KeyStore) -> Result<()> {
        match store {
            KeyStore::Keychain => entry(name)?.set_password(key).map_err(unavailable),
            KeyStore::File => {
                let mut keys = self.read_file()?;
                keys.insert(name.to_owned(), key.to_owned());
                self.write_file(&keys)
            }
            KeyStore::Session => self.session.put(name, key, store),
            KeyStore::Env => Err(fault("keychain_unavailable").into()),
        }
    }

    fn get(&self, name: &str, store: KeyStore) -> Result<Option<String>> {
        match store {
            KeyStore::Keychain => match entry(name)?.get_password() {
                Ok(key) => Ok(Some(key)),
                Err(keyring::Error::NoEntry) => Ok(None),
                Err(error) => Err(unavailable(error)),
            },
            KeyStore::File => Ok(self.read_file()?.remove(name)),
            KeyStore::Session => self.session.get(name, store),
            KeyStore::Env => Ok(std::env::var("PALIMPSEST_LLM_API_KEY").ok()),
        }
    }

    fn remove(&self, name: &str, store: KeyStore) -> Result<()> {
        match store {
            KeyStore::Keychain => match entry(name)?.delete_credential() {
                Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
                Err(error) => Err(unavailable(error)),
            },
            KeyStore::File => {
                let mut keys = self.read_file()?;
                if keys.remove(name).is_some() { self.write_file(&keys) } else { Ok(()) }
            }
            KeyStore::Session => self.session.remove(name, store),
            KeyStore::Env => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_keys_is_for_this_account_alone() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::new(folder.path());
        assert_eq!(secrets.get("a", KeyStore::File).unwrap(), None);
        secrets.put("a", "sk-1", KeyStore::File).unwrap();
        assert_eq!(secrets.get("a", KeyStore::File).unwrap().as_deref(), Some("sk-1"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        secrets.remove("a", KeyStore::File).unwrap();
        assert_eq!(secrets.get("a", KeyStore::File).unwrap(), None);
    }
}
