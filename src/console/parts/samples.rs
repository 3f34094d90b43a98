//! Describes the content of a sample in words, before anybody buys it.

use marketplace_text::is_blank;
use maud::{Markup, html};

use super::{
    badges::{self, Tone},
    text,
};
use crate::operations::samples::{SampleContent, SampledPart};

/// Returns how much of an asset a sample contains, such as `3 of 120 files, 12 KB unpacked`.
pub fn part_text(part: &SampledPart) -> String {
    match part {
        SampledPart::Files(files) => {
            let at_least = if files.is_complete { "" } else { "at least " };
            files_text(at_least, files.files, files.all_files, files.bytes)
        }
        SampledPart::Tasks { tasks, all } => tasks_text(*tasks, *all),
        SampledPart::Unknown => "not counted: the files of its data are not known (yet)".to_owned(),
        SampledPart::Description => "its description only, since it has no data".to_owned(),
    }
}

fn files_text(at_least: &str, files: u64, all: u64, bytes: Option<u64>) -> String {
    let all = text::counted(all, "file", "files");
    let number = format!("{at_least}{} of {at_least}{all}", text::grouped(files));
    match bytes {
        Some(bytes) => format!("{number}, {} unpacked", text::size(bytes)),
        None => number,
    }
}

fn tasks_text(tasks: u64, all: u64) -> String {
    format!("{} of {}", text::grouped(tasks), text::counted(all, "task", "tasks"))
}

/// Returns the warning about an asset that a sample has as a whole.
const fn whole_words(part: &SampledPart) -> &'static str {
    match part {
        SampledPart::Tasks { .. } => "All tasks",
        _ => "The whole data",
    }
}

/// Returns the content of a sample from an asset, with a warning if it is everything.
pub fn part(part: &SampledPart) -> Markup {
    html! {
        @if part.is_whole() { (badges::badge(Tone::Warning, whole_words(part))) " " }
        (part_text(part))
    }
}

/// The sums of a sample.
#[derive(Default)]
struct Sums {
    files: u64,
    all_files: u64,
    bytes: Option<u64>,
    tasks: u64,
    all_tasks: u64,
    /// Whether something could not be counted.
    is_open: bool,
}

impl Sums {
    fn of(contents: &[SampleContent]) -> Sums {
        let mut sums = Sums { bytes: Some(0), ..Sums::default() };
        for content in contents {
            match &content.part {
                SampledPart::Files(files) => {
                    sums.files += files.files;
                    sums.all_files += files.all_files;
                    sums.bytes = sums.bytes.zip(files.bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
                    sums.is_open |= !files.is_complete;
                }
                SampledPart::Tasks { tasks, all } => {
                    sums.tasks += tasks;
                    sums.all_tasks += all;
                }
                SampledPart::Unknown => sums.is_open = true,
                SampledPart::Description => {}
            }
        }
        sums
    }

    /// Returns what was counted in words; empty if nothing was.
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if self.all_files > 0 {
            parts.push(files_text("", self.files, self.all_files, self.bytes));
        }
        if self.all_tasks > 0 {
            parts.push(tasks_text(self.tasks, self.all_tasks));
        }
        parts.join("; ")
    }
}

/// Returns how much a sample contains in total, such as `3 of 120 files, 12 KB unpacked, of 1 asset`.
pub fn total(contents: &[SampleContent]) -> String {
    let assets = text::counted(contents.len() as u64, "asset", "assets");
    let sums = Sums::of(contents);
    let counted = sums.text();
    match (counted.is_empty(), sums.is_open) {
        (true, true) => format!("files of {assets}; their number is not known yet"),
        (true, false) => format!("descriptions only, of {assets}"),
        (false, true) => format!("{counted}, of {assets}; the number of other files is not known yet"),
        (false, false) => format!("{counted}, of {assets}"),
    }
}

/// States the total content of a sample, and warns if it has everything of an asset.
pub fn summary(contents: &[SampleContent], is_offered: bool) -> Markup {
    if contents.is_empty() {
        return html! {};
    }
    let whole: Vec<&SampleContent> = contents.iter().filter(|content| content.part.is_whole()).collect();
    html! {
        p {
            @if is_offered { "Buyers of the sample get " } @else { "With a sample price, buyers of the sample get " }
            b { (total(contents)) } "."
        }
        @if !whole.is_empty() {
            (badges::warning(html! {
                b { "The sample has all that " @if whole.len() == contents.len() && whole.len() == 1 { "the asset has" }
                    @else { (text::counted(whole.len() as u64, "asset has", "assets have")) } ": " }
                @for (index, content) in whole.iter().take(MAX_NAMED).enumerate() {
                    @if index > 0 { "; " }
                    bdi.long { (title(content)) } " (" (part_text(&content.part)) ")"
                }
                @if whole.len() > MAX_NAMED { "; and " (whole.len() - MAX_NAMED) " more" }
                ". Choose its files and folders, or tasks, if the sample should have less."
            }))
        }
    }
}

/// Maximum number of assets that a warning names.
const MAX_NAMED: usize = 5;

/// Returns the title of a sampled asset.
pub fn title(content: &SampleContent) -> &str {
    title_or_default(&content.title)
}

/// Returns the title of an asset, which can be missing.
pub fn title_or_default(title: &str) -> &str {
    if is_blank(title) { "Asset without a title" } else { title }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::{artifacts::packing::forecast::Forecast, domain::assets::Kind};

    fn content(part: SampledPart) -> SampleContent {
        SampleContent { asset: Uuid::from_u128(1), title: "Maps".to_owned(), kind: Kind::RawData, part }
    }

    fn files(files: u64, all_files: u64) -> SampledPart {
        SampledPart::Files(Forecast {
            files,
            bytes: Some(12_000),
            all_files,
            all_bytes: Some(500_000),
            is_complete: true,
            ..Forecast::default()
        })
    }

    #[test]
    fn parts_are_counted() {
        assert_eq!(part_text(&files(3, 120)), "3 of 120 files, 12 KB unpacked");
        assert_eq!(part_text(&SampledPart::Tasks { tasks: 1, all: 1 }), "1 of 1 task");
        let sums = [content(files(3, 120)), content(SampledPart::Tasks { tasks: 10, all: 250 })];
        assert_eq!(Sums::of(&sums).text(), "3 of 120 files, 12 KB unpacked; 10 of 250 tasks");
        for (part, expected) in [
            (SampledPart::Description, "descriptions only, of 1 asset"),
            (SampledPart::Unknown, "files of 1 asset; their number is not known yet"),
            (files(3, 120), "3 of 120 files, 12 KB unpacked, of 1 asset"),
        ] {
            assert_eq!(total(&[content(part)]), expected);
        }
    }

    #[test]
    fn whole_data_is_warned_about() {
        let warned = summary(&[content(files(7, 7))], true).into_string();
        assert!(
            warned.contains("The sample has all that the asset has") && warned.contains("Maps"),
            "{warned}"
        );
        let fine = summary(&[content(files(3, 7))], true).into_string();
        assert!(!fine.contains("has all that"), "{fine}");
    }
}
