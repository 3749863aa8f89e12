//! Where keys are kept. The engine asks for a key at call time and forgets it; it is never stored in
//! the data file, logged, or sent to a page. Which store there is, the shell decides.

use crate::view::settings::KeyStore;

/// A place for keys, by name.
pub trait SecretStore: Send + Sync + 'static {
    /// Whether the operating system's own key store can be used.
    fn has_keychain(&self) -> bool;

    /// Keeps a key in the named kind of store.
    ///
    /// # Errors
    /// `keychain_unavailable` or `io`.
    fn put(&self, name: &str, key: &str, store: KeyStore) -> crate::Result<()>;

    /// The key, if there is one.
    ///
    /// # Errors
    /// `keychain_unavailable` or `io`.
    fn get(&self, name: &str, store: KeyStore) -> crate::Result<Option<String>>;

    /// Removes the key.
    ///
    /// # Errors
    /// `keychain_unavailable` or `io`.
    fn remove(&self, name: &str, store: KeyStore) -> crate::Result<()>;
}

/// Keys for this run of the program only.
#[derive(Debug, Default)]
pub struct SessionSecrets(std::sync::Mutex<std::collections::BTreeMap<String, String>>);

impl SecretStore for SessionSecrets {
    fn has_keychain(&self) -> bool {
        false
    }

    fn put(&self, name: &str, key: &str, store: KeyStore) -> crate::Result<()> {
        if store != KeyStore::Session {
            return Err(crate::report::fault("keychain_unavailable").into());
        }
        if let Ok(mut keys) = self.0.lock() {
            keys.insert(name.to_owned(), key.to_owned());
        }
        Ok(())
    }

    fn get(&self, name: &str, _store: KeyStore) -> crate::Result<Option<String>> {
        Ok(self.0.lock().ok().and_then(|keys| keys.get(name).cloned()))
    }

    fn remove(&self, name: &str, _store: KeyStore) -> crate::Result<()> {
        if let Ok(mut keys) = self.0.lock() {
            keys.remove(name);
        }
        Ok(())
    }
}
