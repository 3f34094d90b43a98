//! Known layouts of robot and human recordings, recognized by file paths and by the metadata file of the
//! dataset.

use marketplace_domain::assets::RoboticsFormat;
use marketplace_text::encoding;
use serde::Deserialize;

use super::Robotics;
use crate::contents::split_path;

/// Maximum size in bytes of a metadata file (`meta/info.json`). Larger ones are ignored.
pub const MAX_INFO_BYTES: u64 = 1 << 20;

/// Maximum number of candidate directories that are remembered.
const MAX_CANDIDATES: usize = 100;

/// The characteristic files found so far, by the root directory of the layout that they belong to.
#[derive(Debug, Default)]
pub struct LayoutDetector {
    candidates: Vec<(String, SeenFiles)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SeenFiles {
    has_data: bool,
    is_v2: bool,
    is_v3: bool,
    has_takes: bool,
    has_captures: bool,
}

/// The relevant fields of `meta/info.json` of a LeRobot dataset.
#[derive(Debug, Deserialize)]
struct LerobotInfo {
    codebase_version: Option<String>,
    total_episodes: Option<u64>,
    total_frames: Option<u64>,
    fps: Option<f64>,
    robot_type: Option<String>,
}

/// Whether a path is that of a LeRobot metadata file, `meta/info.json`.
pub fn is_info_path(path: &str) -> bool {
    path == "meta/info.json" || path.ends_with("/meta/info.json")
}

impl LayoutDetector {
    /// Records the path of a file.
    pub fn add_file(&mut self, path: &str) {
        let is_table = path.ends_with(".parquet");
        let root_before = |marker: &str| -> Option<String> {
            if path.starts_with(marker) {
                return Some(String::new());
            }
            path.find(&format!("/{marker}")).map(|at| path[..at].to_owned())
        };
        let (directory, name) = split_path(path);
        match name {
            "takes.json" => self.mark(directory.to_owned(), |seen| seen.has_takes = true),
            "captures.json" => self.mark(directory.to_owned(), |seen| seen.has_captures = true),
            "episodes.jsonl" | "tasks.jsonl" => {
                if let Some(root) = root_before("meta/") {
                    self.mark(root, |seen| seen.is_v2 = true);
                }
            }
            _ if is_table => {
                if let Some(root) = root_before("data/chunk-") {
                    self.mark(root, |seen| seen.has_data = true);
                } else if let Some(root) =
                    root_before("meta/episodes/").or_else(|| root_before("meta/tasks.parquet"))
                {
                    self.mark(root, |seen| seen.is_v3 = true);
                }
            }
            _ => {}
        }
    }

    /// Returns the recognized dataset, given the paths and contents of the metadata files.
    pub fn detect(&self, infos: &[(String, Vec<u8>)]) -> Option<Robotics> {
        infos
            .iter()
            .find_map(|(path, bytes)| self.detect_lerobot(path, bytes))
            .or_else(|| self.detect_ego_exo())
    }

    fn detect_lerobot(&self, path: &str, bytes: &[u8]) -> Option<Robotics> {
        let root = path.strip_suffix("meta/info.json")?.trim_end_matches('/');
        let seen = self.candidates.iter().find(|(directory, _)| directory == root)?.1;
        let info: LerobotInfo = serde_json::from_str(&encoding::decode(bytes)?).ok()?;
        let version = info.codebase_version.as_deref().unwrap_or_default().trim_start_matches('v');
        let is_named = |major: char| version.starts_with(major);
        let format = match () {
            () if !seen.has_data => return None,
            () if is_named('3') || version.is_empty() && seen.is_v3 => RoboticsFormat::LerobotV3,
            () if is_named('2') || version.is_empty() && seen.is_v2 => RoboticsFormat::LerobotV2,
            () => return None,
        };
        Some(Robotics {
            format,
            episodes: info.total_episodes,
            frames: info.total_frames,
            fps: info.fps.filter(|fps| fps.is_finite()),
            robot: info.robot_type.map(|robot| robot.chars().take(100).collect()),
        })
    }

    fn detect_ego_exo(&self) -> Option<Robotics> {
        let format = RoboticsFormat::EgoExo;
        let has_both = |(_, seen): &(String, SeenFiles)| seen.has_takes && seen.has_captures;
        let recordings = Robotics { format, episodes: None, frames: None, fps: None, robot: None };
        self.candidates.iter().any(has_both).then_some(recordings)
    }

    fn mark(&mut self, root: String, mark: impl FnOnce(&mut SeenFiles)) {
        let is_full = self.candidates.len() >= MAX_CANDIDATES;
        if let Some((_, seen)) = self.candidates.iter_mut().find(|(directory, _)| *directory == root) {
            mark(seen);
        } else if !is_full {
            let mut seen = SeenFiles::default();
            mark(&mut seen);
            self.candidates.push((root, seen));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_layout(paths: &[&str], info: &str) -> Option<(RoboticsFormat, Option<u64>)> {
        let mut layout = LayoutDetector::default();
        for path in paths {
            layout.add_file(path);
        }
        let infos =
            paths.iter().filter(|path| is_info_path(path)).map(|path| ((*path).to_owned(), info.into()));
        layout.detect(&infos.collect::<Vec<_>>()).map(|found| (found.format, found.episodes))
    }

    #[test]
    fn layouts_are_detected_by_their_files() {
        let v2 = ["meta/info.json", "meta/episodes.jsonl", "data/chunk-000/episode_000000.parquet"];
        let v3 = [
            "x/meta/info.json",
            "x/meta/episodes/chunk-000/file-000.parquet",
            "x/data/chunk-000/file-000.parquet",
        ];
        let info = |version: &str| {
            format!("{{\"codebase_version\": \"{version}\", \"total_episodes\": 7, \"features\": {{}}}}")
        };
        assert_eq!(detect_layout(&v2, &info("v2.0")), Some((RoboticsFormat::LerobotV2, Some(7))));
        assert_eq!(detect_layout(&v2, &info("v2.1")), Some((RoboticsFormat::LerobotV2, Some(7))));
        assert_eq!(detect_layout(&v3, &info("v3.0")), Some((RoboticsFormat::LerobotV3, Some(7))));
        assert_eq!(detect_layout(&v3, "\u{feff}{}"), Some((RoboticsFormat::LerobotV3, None)));
        assert_eq!(
            detect_layout(&["a/takes.json", "a/captures.json"], ""),
            Some((RoboticsFormat::EgoExo, None))
        );
        for (paths, info) in [
            (&v2[..2], info("v2.0")),
            (&v2[..], info("v1.6")),
            (&v2[..], "not json".to_owned()),
            (&v2[..], "{\"total_episodes\": -1, \"codebase_version\": \"v2.0\"}".to_owned()),
            (&["a/takes.json", "b/captures.json"], String::new()),
            (&["y/meta/info.json", v3[1], v3[2]], info("v3.0")),
        ] {
            assert_eq!(detect_layout(paths, &info), None, "{paths:?} {info}");
        }
    }
}
