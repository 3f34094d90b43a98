//! Options of a request beyond the protocol: its tools, their schemas, and the text of answers. A header or the query of the
//! address states each option; the settings have the defaults.

use poem::http::request::Parts;
use rmcp::ErrorData;

use super::tool_selection::ToolSelection;
use crate::{
    config::{AgentSettings, SchemaDetail, TextDetail},
    error::excerpt,
    string_enum::StringEnum,
};

/// A name by which a request states an option: in the query of its address, and as a header.
struct OptionName {
    query: &'static str,
    header: Option<&'static str>,
}

const SCHEMAS: OptionName = OptionName { query: "schemas", header: None };
const TEXT: OptionName = OptionName { query: "text", header: Some("mcp-text") };
const TOOLSETS: OptionName = OptionName { query: "toolsets", header: Some("x-mcp-toolsets") };
const TOOLS: OptionName = OptionName { query: "tools", header: Some("x-mcp-tools") };

const OPTIONS: [&OptionName; 4] = [&SCHEMAS, &TEXT, &TOOLSETS, &TOOLS];

/// The options of a request.
pub struct RequestOptions<'a> {
    /// The request; none if it did not come over HTTP.
    parts: Option<&'a Parts>,
    settings: &'a AgentSettings,
}

impl<'a> RequestOptions<'a> {
    /// Returns the options of a request.
    pub const fn new(parts: Option<&'a Parts>, settings: &'a AgentSettings) -> RequestOptions<'a> {
        RequestOptions { parts, settings }
    }

    /// Returns how much the output schemas say that the request gets.
    pub fn schema_detail(&self) -> Result<SchemaDetail, ErrorData> {
        self.one_of(&SCHEMAS, self.settings.schemas)
    }

    /// Returns how much the text of answers says.
    pub fn text_detail(&self) -> Result<TextDetail, ErrorData> {
        self.one_of(&TEXT, self.settings.text)
    }

    /// Returns the tools that the request selects. A request that names toolsets or tools replaces both settings. Fails if the
    /// address has a parameter that is no option: it may be a misspelled one.
    pub fn tool_selection(&self, known_tools: &[&'static str]) -> Result<ToolSelection, ErrorData> {
        self.check_parameters()?;
        let stated = [self.stated(&TOOLSETS), self.stated(&TOOLS)];
        let selection = match stated {
            [None, None] => ToolSelection::from_settings(self.settings, known_tools),
            [toolsets, tools] => {
                let [toolsets, tools] = [toolsets, tools].map(Option::unwrap_or_default);
                ToolSelection::parse(&toolsets, &tools, known_tools)
            }
        };
        selection.map_err(|message| ErrorData::invalid_params(message, None))
    }

    fn check_parameters(&self) -> Result<(), ErrorData> {
        let query = self.parts.and_then(|parts| parts.uri.query()).unwrap_or_default();
        let known = OPTIONS.map(|option| option.query);
        let mut names = form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name);
        names.find(|name| !known.contains(&name.as_ref())).map_or(Ok(()), |name| {
            let known = known.join(", ");
            let message =
                format!("There is no parameter {:?} of the address. Parameters: {known}.", excerpt(&name));
            Err(ErrorData::invalid_params(message, None))
        })
    }

    /// Returns the value of an option with a closed set of values.
    fn one_of<T: StringEnum>(&self, name: &OptionName, otherwise: T) -> Result<T, ErrorData> {
        let Some(text) = self.stated(name) else { return Ok(otherwise) };
        T::parse(text.trim()).ok_or_else(|| {
            let values: Vec<String> = T::ALL.iter().map(|value| format!("`{}`", value.as_str())).collect();
            let header = name.header.map_or(String::new(), |header| format!("The header {header} or "));
            let message = format!("{header}`{}` in the address must be {}.", name.query, values.join(" or "));
            ErrorData::invalid_params(message, None)
        })
    }

    /// Returns the stated value, if there is one: the header, or else the first such parameter of the address.
    fn stated(&self, name: &OptionName) -> Option<String> {
        let parts = self.parts?;
        let header = name.header.and_then(|header| parts.headers.get(header));
        if let Some(header) = header {
            return Some(String::from_utf8_lossy(header.as_bytes()).into_owned());
        }
        let query = parts.uri.query().unwrap_or_default();
        let mut parameters = form_urlencoded::parse(query.as_bytes());
        parameters.find(|(parameter, _)| parameter == name.query).map(|(_, value)| value.into_owned())
    }
}
