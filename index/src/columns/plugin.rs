//! The columns as a tantivy segment plugin: filled by added documents, written by flushes, and merged with
//! the segments.

use std::any::Any;
use std::io::{self, Write};

use tantivy::directory::{TerminatingWrite, WritePtr};
use tantivy::index::SegmentComponent;
use tantivy::indexer::DocIdMapping;
use tantivy::indexer::doc_id_mapping::MappingType;
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Schema, Value};
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin, TantivyDocument,
    TantivyError,
};

use super::Columns;
use super::builder::ColumnsBuilder;
use super::merge::{self, Source};
use crate::numeric::NUMERIC_COLUMNS;
use crate::schema::Fields;

/// Extension of the columns file of a segment.
pub(crate) const EXTENSION: &str = "columns";

/// The segment plugin that writes and merges columns.
pub(crate) struct ColumnsPlugin {
    fields: Fields,
}

impl ColumnsPlugin {
    pub(crate) const fn new(fields: Fields) -> ColumnsPlugin {
        ColumnsPlugin { fields }
    }
}

impl SegmentPlugin for ColumnsPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(ColumnsWriter { fields: self.fields, builder: ColumnsBuilder::new() }))
    }

    fn merge(&self, merge: PluginMergeContext) -> tantivy::Result<()> {
        // Only an index that is sorted by a fast field shuffles documents, and this one has neither.
        if merge.doc_id_mapping.mapping_type() == MappingType::Shuffled {
            return Err(TantivyError::InternalError(
                "columns do not support merges that reorder documents".to_owned(),
            ));
        }
        let mut sources: Vec<Source> = Vec::with_capacity(merge.readers.len());
        for reader in merge.readers {
            let bytes = reader.open_read(SegmentComponent::Custom(EXTENSION.to_owned()))?.read_bytes()?;
            let columns =
                Columns::open(&bytes).map_err(|error| TantivyError::InternalError(error.to_string()))?;
            let alive = reader.has_deletes().then(|| reader.doc_ids_alive());
            sources.push(Source::new(columns, sources.last().map_or(0, Source::end), alive));
        }
        write_columns(merge.target_segment, |out| merge::merge(&sources, out))
    }
}

/// The columns of the documents that an indexing thread has not flushed yet.
struct ColumnsWriter {
    fields: Fields,
    builder: ColumnsBuilder,
}

impl PluginWriter for ColumnsWriter {
    fn add_document(&mut self, _: DocId, doc: &dyn ErasedDocument, _: &Schema) -> tantivy::Result<()> {
        let row_of = |doc: &TantivyDocument| {
            let bytes = doc.get_first(self.fields.numbers)?.as_bytes()?;
            let (cells, []) = bytes.as_chunks::<8>() else {
                return None;
            };
            let numbers: &[[u8; 8]; NUMERIC_COLUMNS] = cells.try_into().ok()?;
            Some(numbers.map(u64::from_le_bytes))
        };
        let doc = doc.as_any().downcast_ref::<TantivyDocument>();
        let Some((doc, row)) = doc.and_then(|doc| Some((doc, row_of(doc)?))) else {
            return Err(TantivyError::InternalError("a document has no numeric values".to_owned()));
        };
        self.builder.push(&row, doc.get_all(self.fields.labels).filter_map(|value| value.as_str()));
        Ok(())
    }

    fn serialize(self: Box<Self>, segment: &Segment, mapping: Option<&DocIdMapping>) -> tantivy::Result<()> {
        if mapping.is_some() {
            return Err(TantivyError::InternalError(
                "columns do not support flushes that reorder documents".to_owned(),
            ));
        }
        write_columns(segment, |out| self.builder.write(out))
    }

    fn mem_usage(&self) -> usize {
        self.builder.memory_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn write_columns(
    segment: &Segment,
    write: impl FnOnce(&mut WritePtr) -> io::Result<()>,
) -> tantivy::Result<()> {
    let mut out = segment.clone().open_write(SegmentComponent::Custom(EXTENSION.to_owned()))?;
    write(&mut out)?;
    out.flush()?;
    out.terminate()?;
    Ok(())
}
