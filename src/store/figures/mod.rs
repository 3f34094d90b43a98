//! Figures of the whole market, for operators. Each file declares one: its texts, and the parts of its statement. To add a figure,
//! add a file, and a line in [`ALL`].

mod active_teams;
mod best_sellers;
mod catalog_growth;
mod check_results;
mod figure;
mod job_times;
mod languages;
mod prices;
mod review_times;
mod sales;

pub use figure::{Axis, Figure, FigureRow, NAME_SEPARATOR, Series, Unit, Value, read, read_whole};

/// All figures, in the order in which they are shown.
pub static ALL: [&Figure; 9] = [
    &catalog_growth::CATALOG_GROWTH,
    &sales::SALES,
    &best_sellers::BEST_SELLERS,
    &prices::PRICES,
    &check_results::CHECK_RESULTS,
    &review_times::REVIEW_TIMES,
    &languages::LANGUAGES,
    &job_times::JOB_TIMES,
    &active_teams::ACTIVE_TEAMS,
];
