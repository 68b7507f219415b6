//! What an address says about encryption.

use std::path::PathBuf;

use super::AddressError;
use super::environment::Environment;
use super::parameters::Parameters;
use super::settings::choose;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SslMode {
    Disable,
    /// Encrypted only if the server takes nothing else.
    Allow,
    /// Encrypted if the server can.
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// The certificates that a server's certificate has to be signed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Those that the operating system trusts.
    System,
    File(PathBuf),
    /// No file is named, and the user has no home folder to look into.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientCertificate {
    /// It is never sent.
    Never,
    IfThere,
    /// The connection is not made without one.
    Always,
}

#[derive(Debug, Clone)]
pub(crate) struct TlsSettings {
    pub(crate) mode: SslMode,
    /// TLS begins at once, without asking the server for it first.
    pub(crate) direct: bool,
    pub(crate) roots: Roots,
    pub(crate) client_certificate: ClientCertificate,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    /// Whether `sslcert` was named, so that its file has to be there.
    pub(crate) certificate_named: bool,
    pub(crate) revoked: Option<PathBuf>,
    pub(crate) revoked_folder: Option<PathBuf>,
    /// Whether the server is told which name was asked for.
    pub(crate) server_name: bool,
    pub(crate) version_2: bool,
    pub(crate) version_3: bool,
}

impl TlsSettings {
    pub(super) fn read(parameters: &Parameters, environment: &Environment) -> Result<Self, AddressError> {
        let roots = match parameters.get("sslrootcert") {
            Some("system") => Roots::System,
            Some(path) => Roots::File(path.into()),
            None => environment.at_home(".postgresql/root.crt").map_or(Roots::None, Roots::File),
        };
        let mode = mode(parameters, environment, &roots)?;
        let direct =
            choose(parameters, "sslnegotiation", &[("postgres", false), ("direct", true)])?.unwrap_or_default();
        if direct && mode < SslMode::Require {
            return Err(AddressError("`sslnegotiation=direct` needs `sslmode=require` or stronger".to_owned()));
        }
        let (version_2, version_3) = versions(parameters)?;
        let modes = [
            ("disable", ClientCertificate::Never),
            ("allow", ClientCertificate::IfThere),
            ("require", ClientCertificate::Always),
        ];
        let at_home = |keyword, name: &str| {
            parameters.get(keyword).map(PathBuf::from).or_else(|| environment.at_home(&format!(".postgresql/{name}")))
        };
        Ok(Self {
            mode,
            direct,
            roots,
            client_certificate: choose(parameters, "sslcertmode", &modes)?.unwrap_or(ClientCertificate::IfThere),
            certificate: at_home("sslcert", "postgresql.crt"),
            key: at_home("sslkey", "postgresql.key"),
            certificate_named: parameters.get("sslcert").is_some(),
            revoked: at_home("sslcrl", "root.crl"),
            revoked_folder: parameters.get("sslcrldir").map(PathBuf::from),
            server_name: choose(parameters, "sslsni", &[("0", false), ("1", true)])?.unwrap_or(true),
            version_2,
            version_3,
        })
    }
}

fn mode(parameters: &Parameters, environment: &Environment, roots: &Roots) -> Result<SslMode, AddressError> {
    let modes = [
        ("disable", SslMode::Disable),
        ("allow", SslMode::Allow),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-ca", SslMode::VerifyCa),
        ("verify-full", SslMode::VerifyFull),
    ];
    let chosen = choose(parameters, "sslmode", &modes)?;
    let of_variable = environment.variable("PGREQUIRESSL").filter(|value| *value == "1").map(|_| SslMode::Require);
    match chosen.or(of_variable) {
        // Anyone can have a certificate for some name from an authority that the system trusts.
        Some(mode) if *roots == Roots::System && mode < SslMode::VerifyFull => {
            Err(AddressError("`sslrootcert=system` needs `sslmode=verify-full`".to_owned()))
        }
        Some(mode) => Ok(mode),
        None if *roots == Roots::System => Ok(SslMode::VerifyFull),
        None => Ok(SslMode::Prefer),
    }
}

/// Whether TLS 1.2 and 1.3 may be spoken. Older versions are not.
fn versions(parameters: &Parameters) -> Result<(bool, bool), AddressError> {
    let versions = [("TLSv1", 0), ("TLSv1.1", 1), ("TLSv1.2", 2), ("TLSv1.3", 3)];
    let least = choose(parameters, "ssl_min_protocol_version", &versions)?.unwrap_or(2);
    let most = choose(parameters, "ssl_max_protocol_version", &versions)?.unwrap_or(3);
    if most < 2 {
        return Err(AddressError(
            "`ssl_max_protocol_version` is TLSv1.2 or TLSv1.3; older versions are broken and not spoken".to_owned(),
        ));
    }
    if least > most {
        return Err(AddressError("`ssl_min_protocol_version` is above `ssl_max_protocol_version`".to_owned()));
    }
    Ok((least <= 2, most >= 3))
}
