//! Directories and files of linked data.

use crate::{
    artifacts::structure::NodeKind,
    domain::assets::{ArtifactStatus, Kind},
    operations::data_structures,
    rest::{prelude::*, shapes::json_object::ObjectWriter},
    store::data_structures::StoredStructure,
    string_enum::StringEnum,
};

/// A directory or file.
#[derive(Debug, Object, Serialize)]
pub struct StructureNode {
    /// Name of the directory or file, without its path.
    pub name: String,
    /// `folder` for a directory, `file` for a file.
    pub kind: EnumValue<NodeKind>,
    /// Content of a directory, directories first, then by name; empty for files, and for directories at
    /// `max_depth`.
    pub children: Vec<StructureNode>,
}

/// Tree of the directories and files of linked data.
#[derive(Debug, Object, Serialize)]
pub struct DataStructure {
    /// State of analyzing the data. The tree is empty until it is `completed`.
    pub analysis_status: EnumValue<ArtifactStatus>,
    /// Number of levels in the tree, at most 8, and fewer for data with very many files; 0 if there is no
    /// tree yet.
    #[oai(validator(maximum(value = "8")))]
    pub max_depth: u32,
    /// Top level of the tree, directories first, then by name.
    pub roots: Vec<StructureNode>,
}

/// Builds the JSON of a [`DataStructure`], whose roots are stored as JSON.
fn structure_json(structure: &StoredStructure) -> Vec<u8> {
    let (max_depth, roots) =
        structure.tree.as_ref().map_or((0, "[]"), |(depth, roots)| (*depth, roots.as_str()));
    let mut json = ObjectWriter::with_capacity(roots.len() + 64);
    json.field("analysis_status", structure.analysis_status.as_str());
    json.field("max_depth", &max_depth);
    json.raw_field("roots", roots.as_bytes());
    json.finish()
}

async fn get_structure(call: Call<Vendor>, id: Uuid, kind: Kind) -> JsonResult<DataStructure> {
    Json::read_bytes(&call.served, call.access.requester(), move |reader| {
        data_structures::get(reader, &call.access, id, kind).map(|structure| structure_json(&structure))
    })
    .await
}

#[routes(prefix = "/v2", tag = Codebases)]
impl CodebaseStructuresApi {
    /// Get the structure of a codebase
    ///
    /// Returns the tree of directories and files in the data that is linked to a codebase.
    #[get(
        "/codebases/{asset_id}/data/structure",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Assets,
                    "get_codebase_structure",
                    "Structure of a codebase",
                    "Directories and files of a codebase's repository or zip; none before \
                     `analysis_status` is completed.",
                )
                .unlisted()
                .with_evidence("get_asset_evidence")
                .with_ids("list_codebases"),
            ),
            Contract::new(Target::OwnLinkedCodebase),
        ),
    )]
    async fn get_codebase_structure(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
    ) -> JsonResult<DataStructure> {
        get_structure(call, asset_id.0, Kind::Codebase).await
    }
}

#[routes(prefix = "/v2", tag = RawData)]
impl RawDataStructuresApi {
    /// Get the structure of raw data
    ///
    /// Returns the tree of directories and files in the archive that is attached to a raw data asset.
    #[get(
        "/raw-data/{asset_id}/data/structure",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Assets,
                    "get_raw_data_structure",
                    "Structure of raw data",
                    "Directories and files of a raw data archive; none before `analysis_status` \
                     is completed.",
                )
                .unlisted()
                .with_evidence("get_asset_evidence")
                .with_ids("list_raw_data"),
            ),
            Contract::new(Target::OwnLinkedRawData),
        ),
    )]
    async fn get_raw_data_structure(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> JsonResult<DataStructure> {
        get_structure(call, asset_id.0, Kind::RawData).await
    }
}
