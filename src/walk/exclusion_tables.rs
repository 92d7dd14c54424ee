//! The names behind the default exclusions and the list of usual secrets. All in lower case unless said otherwise.
//!
//! Sources: the lists of VS Code Copilot's file index and of Kodik (folders, file names, extensions), linguist's
//! lock files, GitHub's and git-secrets' patterns of credential stores. Departures are noted where they stand.

/// Folders that nobody searches, with what they are.
pub(super) const FOLDERS: &[(&str, &[&str])] = &[
    ("dependency", &["node_modules", "bower_components", "venv", ".venv", ".yarn", ".npm"]),
    ("build output", &["dist", "out", "build", ".next", ".nuxt", ".nyc_output"]),
    (
        "cache",
        &[
            ".turbo",
            ".parcel-cache",
            "__pycache__",
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache",
            ".tox",
            ".gradle",
        ],
    ),
    ("tool", &[".terraform", ".vscode-test", ".kodik", ".sextant"]),
    ("version control", &[".git", ".svn", ".hg"]),
];

/// Dependency folders whose letter case counts: `pods` in lower case is a usual name for source code.
pub(super) const FOLDERS_IN_THIS_CASE: &[&str] = &["Pods"];

/// Endings of folder names: unpacked application archives.
pub(super) const FOLDER_SUFFIXES: &[&str] = &[".asar"];

/// Files that nobody searches, with what they are.
pub(super) const FILES: &[(&str, &[&str])] = &[
    ("system file", &[".ds_store", "thumbs.db", "desktop.ini", ".cache"]),
    (
        "lock file",
        &[
            "bun.lockb",
            "cabal.project.freeze",
            "cartfile.resolved",
            "go.sum",
            "go.work.sum",
            "gradle.lockfile",
            "npm-shrinkwrap.json",
            "package-lock.json",
            "package.resolved",
            "packages.lock.json",
            "pnpm-lock.yaml",
            "pnpm-lock.yml",
            "stack.yaml.lock",
            ".terraform.lock.hcl",
            "yarn.lock",
        ],
    ),
];

/// Endings of the names of minified files.
pub(super) const MINIFIED_SUFFIXES: &[&str] =
    &[".min.js", "-min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.css"];

/// Extensions of files that are not text, or text that nobody searches, with what they are. Left out of the
/// borrowed list, since it is source code in some language: `gpr` (GNAT projects). `pem`, `key` and other keys
/// are with the secrets. Added: formats that came later or belong to the same families.
pub(super) const EXTENSIONS: &[(&str, &[&str])] = &[
    (
        "image",
        &[
            "3fr", "ai", "arw", "avif", "bmp", "cr2", "cr3", "dng", "eps", "erf", "gif", "heic",
            "heif", "icns", "ico", "iiq", "indd", "jp2", "jpe", "jpeg", "jpg", "jxl", "kdc", "mef",
            "mrw", "nef", "orf", "pcd", "pef", "png", "ps", "psb", "psd", "raf", "raw", "rw2",
            "rwl", "sketch", "srw", "svg", "tga", "tif", "tiff", "webp", "x3f", "xcf",
        ],
    ),
    (
        "audio or video",
        &[
            "aac", "avi", "flac", "flv", "m4a", "m4v", "mid", "midi", "mkv", "mov", "mp3", "mp4",
            "ogg", "ogv", "opus", "pcm", "swf", "wav", "weba", "webm", "wma", "wmv",
        ],
    ),
    (
        "3D model",
        &[
            "3ds", "blend", "c4d", "dae", "fbx", "glb", "gltf", "ma", "max", "mb", "ply", "stl",
            "usdz",
        ],
    ),
    ("font", &["eot", "otf", "pfb", "ttc", "ttf", "woff", "woff2"]),
    (
        "document",
        &["doc", "docx", "odp", "ods", "odt", "pbix", "pdf", "ppt", "pptx", "rtf", "xls", "xlsx"],
    ),
    (
        "archive",
        &[
            "7z", "apk", "br", "bz2", "cab", "crx", "deb", "dmg", "download", "ear", "egg", "gem",
            "git", "gz", "gz_", "ipa", "iso", "jar", "lz4", "lzma", "msi", "nupkg", "pack",
            "pack_", "phar", "pkg", "rar", "rpm", "tar", "tgz", "vsix", "war", "whl", "xpi", "xz",
            "zip", "zst",
        ],
    ),
    (
        "compiled",
        &[
            "a",
            "beam",
            "bin",
            "class",
            "dex",
            "dill",
            "dll",
            "dylib",
            "elf",
            "exe",
            "gcda",
            "gcno",
            "gch",
            "hex",
            "idb",
            "ilk",
            "jsbundle",
            "lib",
            "node",
            "o",
            "obj",
            "pch",
            "pdb",
            "pyc",
            "pyd",
            "pyo",
            "rlib",
            "rmeta",
            "so",
            "suo",
            "sym",
            "tsbuildinfo",
            "wasm",
            "winmd",
        ],
    ),
    (
        "data",
        &[
            "accdb",
            "cache",
            "coverage",
            "dat",
            "data",
            "db",
            "db-shm",
            "db-wal",
            "gguf",
            "h5",
            "hash",
            "hdf5",
            "mdb",
            "npy",
            "npz",
            "onnx",
            "parquet",
            "pickle",
            "pkl",
            "pt",
            "pth",
            "safetensors",
            "sqlite",
            "sqlite3",
            "sum",
            "tflite",
            "trace",
            "vsidx",
            "xcuserstate",
        ],
    ),
    ("certificate", &["cer", "crt", "csr"]),
    ("log", &["log", "out", "testlog", "tlog"]),
    ("temporary", &["temp", "tmp"]),
    ("lock file", &["lock"]),
    ("source map", &["map"]),
    ("snapshot", &["snap"]),
];

/// Folders that hold secrets.
pub(super) const SECRET_FOLDERS: &[&str] = &[".ssh", ".gnupg", ".password-store"];

/// Files that hold secrets, by name.
pub(super) const SECRET_FILES: &[&str] = &[
    ".dockercfg",
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraformrc",
    ".vault-token",
    "_netrc",
    "application_default_credentials.json",
    "client_secret.json",
    "client_secrets.json",
    "credentials.json",
    "credentials.tfrc.json",
    "gcloud-service-key.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "kubeconfig",
    "local.settings.json",
    "master.key",
    "pgpass.conf",
    "secring.gpg",
    "secring.pgp",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account.json",
    "service-account-key.json",
    "service_account.json",
    "service_account_key.json",
    "serviceaccount.json",
    "serviceaccountkey.json",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "terraform.tfvars",
];

/// Ends of paths, whole parts, of files that hold secrets.
pub(super) const SECRET_PATHS: &[&str] = &[
    ".aws/config",
    ".aws/credentials",
    ".azure/accesstokens.json",
    ".azure/msal_token_cache.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".gem/credentials",
    ".kube/config",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".nuget/nuget.config",
];

/// Extensions of keys and key stores.
pub(super) const SECRET_EXTENSIONS: &[&str] = &[
    "agekey",
    "gpg",
    "jks",
    "jceks",
    "kdb",
    "kdbx",
    "key",
    "keystore",
    "keytab",
    "mobileprovision",
    "ovpn",
    "p12",
    "p8",
    "pem",
    "pfx",
    "pgp",
    "pkcs12",
    "ppk",
    "priv",
    "tfstate",
    "tfvars",
];

/// Ends of the names of templates for files of secrets, which hold none.
pub(super) const SECRET_TEMPLATE_SUFFIXES: &[&str] =
    &[".example", ".sample", ".template", ".dist", ".tpl", ".defaults"];
