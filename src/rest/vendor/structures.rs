//! The folders and files of linked data.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    artifacts::structure::NodeKind,
    domain::{
        assets::{ArtifactStatus, Kind},
        vocabulary::Vocabulary,
    },
    operations::{access::Vendor, structures},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        vocabulary::Word,
    },
    store::structures::Shown,
};

/// A folder or a file.
#[derive(Debug, Object, Serialize)]
pub struct StructureNode {
    /// Its name, without those of the folders that it lies in.
    pub name: String,
    /// What it is.
    pub kind: Word<NodeKind>,
    /// What a folder holds, folders first and then by name; nothing on the last level that is shown.
    pub children: Vec<StructureNode>,
}

/// The folders and files of linked data.
#[derive(Debug, Object, Serialize)]
pub struct DataStructure {
    /// How far the data is read; nothing is shown before it is `completed`.
    pub analysis_status: Word<ArtifactStatus>,
    /// Levels that are shown: as many as have few enough folders and files, and at most eight; 0 where nothing is.
    #[oai(validator(maximum(value = "8")))]
    pub max_depth: u32,
    /// The first level, folders first and then by name.
    pub roots: Vec<StructureNode>,
}

/// The JSON of a [`DataStructure`], whose roots are JSON already.
fn render(shown: &Shown) -> Raw<DataStructure> {
    let (max_depth, roots) = shown.tree.as_ref().map_or((0, "[]"), |(depth, roots)| (*depth, roots.as_str()));
    let status = shown.analysis_status.word();
    Raw::new(format!(r#"{{"analysis_status":"{status}","max_depth":{max_depth},"roots":{roots}}}"#))
}

pub struct StructuresApi;

#[OpenApi(prefix_path = "/v2")]
impl StructuresApi {
    /// Structure of a repository
    ///
    /// The folders and files of the repository that is linked to a codebase.
    #[oai(
        path = "/codebases/:asset_id/data/structure",
        method = "get",
        operation_id = "get_codebase_structure",
        tag = "super::super::Tag::Codebases"
    )]
    async fn of_codebase(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<DataStructure> {
        let shown =
            app.market().glance(move |reader| structures::get(reader, &access.0, asset_id.0, Kind::Codebase));
        Ok(render(&shown.await?))
    }

    /// Structure of an archive
    ///
    /// The folders and files of the archive that is attached to a row of raw data.
    #[oai(
        path = "/raw-data/:asset_id/data/structure",
        method = "get",
        operation_id = "get_raw_data_structure",
        tag = "super::super::Tag::RawData"
    )]
    async fn of_raw_data(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<DataStructure> {
        let shown =
            app.market().glance(move |reader| structures::get(reader, &access.0, asset_id.0, Kind::RawData));
        Ok(render(&shown.await?))
    }
}
