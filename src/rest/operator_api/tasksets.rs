//! Tasksets of vendors.

use crate::{
    domain::tasks::{Column, ColumnKind, DerivedColumn},
    operations::task_changes,
    rest::{
        operator_api::prelude::*,
        shapes::strings::{Label, Name},
    },
    store::records::tasksets::TASKSETS,
};

/// A collection of tasks of one team, with the columns of its table.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Taskset")]
pub struct TasksetOut {
    /// ID of the taskset.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Columns of the table of tasks, in order.
    pub columns: Vec<ColumnOut>,
    /// Number of tasks that are not deleted.
    pub task_count: u64,
    /// Time of creation.
    pub created_at: UtcTime,
}

/// A column of a taskset's table of tasks.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "TasksetColumn")]
pub struct ColumnOut {
    /// Identifier of the column, used as the key of its values.
    pub name: String,
    /// Display name of the column.
    pub label: String,
    /// Type of the column's values.
    pub kind: EnumValue<ColumnKind>,
    /// Metric that a `derived` column shows; null for other kinds of columns.
    pub derives: Option<EnumValue<DerivedColumn>>,
}

resource!(TasksetOut: Uuid, TASKSETS, "taskset", id, team_id);

page_of! {
    /// A page of tasksets.
    TasksetPage, TasksetOut
}

/// What the list of tasksets can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct TasksetFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// Name of the taskset.
    name: Option<String>,
}

/// A taskset to create.
#[derive(Debug, Object)]
pub struct TasksetIn {
    /// ID of the vendor team.
    team_id: MaybeInvalid<Uuid>,
    /// Name of the taskset.
    name: MaybeInvalid<Name>,
    /// Columns of the table of tasks, in order. Their names must differ.
    #[oai(default, validator(max_items = 50))]
    columns: Vec<MaybeInvalid<ColumnIn>>,
}

/// A column of the table of a taskset to create.
#[derive(Debug, Object)]
pub struct ColumnIn {
    /// Identifier of the column, used as the key of its values.
    name: MaybeInvalid<Label>,
    /// Display name of the column.
    label: MaybeInvalid<Label>,
    /// Type of the column's values.
    kind: MaybeInvalid<EnumValue<ColumnKind>>,
    /// Metric that the column shows; required with the kind `derived`, and not allowed with others.
    derives: Option<EnumValue<DerivedColumn>>,
}

impl ColumnIn {
    fn into_column(self) -> Result<Column> {
        Ok(Column {
            name: self.name.into_valid()?.into(),
            label: self.label.into_valid()?.into(),
            kind: self.kind.into_valid()?.0,
            derives: self.derives.map(|derives| derives.0),
        })
    }
}

#[routes(prefix = "/operator/v1", tag = Tasksets)]
impl TasksetsApi {
    /// List tasksets
    ///
    /// Returns the tasksets of all teams, newest first.
    #[get("/tasksets", routes::list(&["name=nothing", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_tasksets(
        call: Call<Operator>,
        query: Params<ListQuery<TasksetFilters>>,
    ) -> JsonResult<TasksetPage> {
        pages::list(call, query).await
    }

    /// Create a taskset
    ///
    /// Creates a taskset of a vendor, without tasks.
    #[post("/tasksets", routes::create(Actor::Team, &[EventType::TasksetCreated]))]
    async fn create_taskset(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_TEAM, "name": "Incident reports",
                    "columns": [
                        {"name": "severity", "label": "Severity", "kind": "number"},
                        {"name": "runs", "label": "Graded runs", "kind": "derived", "derives": "runs"},
                    ],
                }))]
        body: Body<TasksetIn>,
    ) -> JsonResult<TasksetOut, 201> {
        changes::post_body(change, body, |writer, platform, body: TasksetIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let name: String = body.name.into_valid()?.into();
            let columns = body.columns.into_iter().map(|column| column.into_valid()?.into_column());
            let columns = columns.collect::<Result<Vec<Column>>>()?;
            task_changes::create_taskset(writer, &platform.vendor(team)?, &name, &columns)
        })
        .await
    }

    /// Get a taskset
    ///
    /// Returns a taskset with its columns. Its tasks are a list of their own.
    #[get("/tasksets/{taskset_id}", routes::get("tasksets"))]
    async fn get_taskset(call: Call<Operator>, taskset_id: Path<Uuid>) -> JsonResult<TasksetOut> {
        resources::get(call, taskset_id.0).await
    }
}
