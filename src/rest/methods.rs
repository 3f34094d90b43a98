//! Which methods each path takes, for answers to methods that it does not take.

use serde_json::Value;

/// Path templates with their methods.
#[derive(Debug, Default)]
pub struct Methods(Vec<(Vec<String>, Vec<String>)>);

impl Methods {
    /// Reads them from OpenAPI documents.
    pub fn of_documents<'a>(documents: impl IntoIterator<Item = &'a Value>) -> Methods {
        let mut methods = Methods::default();
        for document in documents {
            for (path, operations) in document["paths"].as_object().into_iter().flatten() {
                let operations = operations.as_object().into_iter().flatten();
                methods.add(path, operations.map(|(method, _)| method.to_uppercase()).collect());
            }
        }
        methods
    }

    /// Adds a path that stands in no document.
    pub fn add(&mut self, path: &str, methods: Vec<String>) {
        self.0.push((path.split('/').map(str::to_owned).collect(), methods));
    }

    /// The methods of a path; the template with most literal segments wins, as in the router.
    pub fn of(&self, path: &str) -> Vec<String> {
        let segments: Vec<&str> = path.split('/').collect();
        let is_free = |segment: &String| segment.starts_with('{');
        let fits = |template: &[String]| {
            template.len() == segments.len()
                && template.iter().zip(&segments).all(|(known, sent)| is_free(known) || known == sent)
        };
        let literal = |template: &[String]| template.iter().filter(|segment| !is_free(segment)).count();
        let best = self.0.iter().filter(|(template, _)| fits(template)).max_by_key(|(template, _)| literal(template));
        let mut methods = best.map(|(_, methods)| methods.clone()).unwrap_or_default();
        if methods.iter().any(|method| method == "GET") {
            methods.push("HEAD".to_owned());
        }
        methods.sort();
        methods
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_paths_win() {
        let mut methods = Methods::default();
        methods.add("/v2/things/{id}", vec!["PATCH".to_owned()]);
        methods.add("/v2/things/mine", vec!["GET".to_owned()]);
        assert_eq!(methods.of("/v2/things/mine"), ["GET", "HEAD"]);
        assert_eq!(methods.of("/v2/things/7"), ["PATCH"]);
        assert!(methods.of("/v2/other").is_empty());
    }
}
