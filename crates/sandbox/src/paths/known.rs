//! Folders and files that systems and tools agree on.

/// Folders of the system. On most systems several of them are links into `/usr`.
pub(super) const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu/store",
    "/run/current-system",
    "/sys/devices/system",
    "/Library/Developer",
];

/// Secrets of the system. A user without rights cannot read them anyway; a process of root could.
pub(super) const SYSTEM_SECRETS: [&str; 18] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/etc/planwright",
    "/etc/docker",
];

/// Tools below the home folder that a command may read. Credentials of the same tools are not among them.
pub(super) const HOME_TOOLS: [&str; 37] = [
    ".rustup",
    ".pyenv",
    ".rbenv",
    ".nvm",
    ".volta",
    ".fnm",
    ".asdf",
    ".sdkman",
    ".deno",
    ".bun/bin",
    ".bun/install/cache",
    ".ghcup",
    ".nimble",
    ".opam",
    ".elan",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/fnm",
    ".local/share/virtualenvs",
    ".npm/_cacache",
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    ".cache/yarn",
    ".m2/repository",
    ".m2/wrapper",
    ".gradle/caches",
    ".gradle/wrapper",
    ".ivy2/cache",
    ".nix-profile",
    "go",
    "sdk",
];

/// Parts of `CARGO_HOME` that are credentials.
pub(super) const CARGO_SECRETS: [&str; 2] = ["credentials", "credentials.toml"];

/// Parts of `CARGO_HOME` that may hold a token, which hides them.
pub(super) const CARGO_SETTINGS: [&str; 2] = ["config", "config.toml"];

/// The parts of `CARGO_HOME` without `credentials.toml`.
pub(super) const CARGO_PARTS: [&str; 6] = ["bin", "registry", "git", "config.toml", "config", "env"];

/// Variables whose folder a command may read.
pub(super) const TOOL_VARIABLES: [&str; 8] =
    ["RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "PYENV_ROOT", "VIRTUAL_ENV", "NVM_DIR", "VOLTA_HOME"];

/// Secrets below the home folder. They matter where a workspace or a configured folder contains them.
pub(super) const HOME_SECRETS: [&str; 39] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/google-chrome",
    ".config/chromium",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".local/share/uv/credentials",
    ".config/uv/credentials",
    ".local/share/pnpm/rc",
    ".local/share/pnpm/auth.ini",
    ".deno/credentials.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".bash_history",
    ".zsh_history",
    ".pgpass",
    ".my.cnf",
];
