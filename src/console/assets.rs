//! Files that pages load: style, scripts, and the icon. Their names contain their digests, so browsers keep them for good.

use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use poem::{Endpoint, Response, endpoint::make_sync, http::header};
use sha2::{Digest, Sha256};

use super::address::Links;
use crate::web::ICON_SVG;

/// Path of the files below [`PREFIX`](super::address::PREFIX).
const PATH: &str = "/assets/";

/// How long browsers keep a file.
const KEEP: &str = "public, max-age=31536000, immutable";

struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
    path: String,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files: [(&'static str, &'static str, &'static [u8]); 6] = [
        ("style.css", "text/css; charset=utf-8", include_bytes!("assets/style.css")),
        ("htmx.js", "text/javascript; charset=utf-8", include_bytes!("assets/htmx.js")),
        ("page.js", "text/javascript; charset=utf-8", include_bytes!("assets/page.js")),
        ("upload.js", "text/javascript; charset=utf-8", include_bytes!("assets/upload.js")),
        ("review.js", "text/javascript; charset=utf-8", include_bytes!("assets/review.js")),
        ("icon.svg", "image/svg+xml", ICON_SVG.as_bytes()),
    ];
    let asset = |(name, content_type, content): (&'static str, &'static str, &'static [u8])| {
        let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
        let digest = HEXLOWER.encode(&Sha256::digest(content)[..8]);
        Asset { name, content_type, content, path: format!("{PATH}{stem}.{digest}.{extension}") }
    };
    files.into_iter().map(asset).collect()
});

/// Returns the address of a file.
pub fn address(links: &Links, name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    links.to(asset.map_or("", |asset| asset.path.as_str()))
}

/// Returns the paths of the files below [`PREFIX`](super::address::PREFIX), with their endpoints.
pub fn endpoints() -> impl Iterator<Item = (&'static str, impl Endpoint<Output = Response>)> {
    ASSETS.iter().map(|asset| {
        let respond = move |_| {
            Response::builder()
                .header(header::CACHE_CONTROL, KEEP)
                .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
                .content_type(asset.content_type)
                .body(asset.content)
        };
        (asset.path.as_str(), make_sync(respond))
    })
}
