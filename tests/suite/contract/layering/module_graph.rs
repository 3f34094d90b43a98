//! The graph of modules: which module uses items of which other module, according to the paths in the source.
//!
//! A name that a module imports, also as a re-export, counts as a use of the module that defines it. Code
//! that exists only in tests is ignored. Not covered: methods that are called on values of a type that is
//! never named, names that come from a glob import, and paths that a macro assembles.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_paths::SourceFile;

/// The path of a module from the root of its crate.
type ModulePath = Vec<String>;

/// How often an import of an import is followed. Only a cycle of imports exceeds this.
const MAX_IMPORT_DEPTH: usize = 10;

/// One use of a module by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    file: String,
    path: String,
}

/// The modules of a crate, with the file of each.
pub struct Modules(BTreeMap<ModulePath, (String, SourceFile)>);

/// The uses among the modules directly below one module. The name `self` means the file of the parent.
#[derive(Default)]
struct Siblings(BTreeMap<String, BTreeMap<String, Use>>);

impl Modules {
    /// Creates the modules from source files: the path of each, relative to the root of the crate, and its
    /// text.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Modules {
        let mut modules: BTreeMap<_, _> = files
            .into_iter()
            .map(|(file, text)| (module_path(&file), (file, SourceFile::parse_without_tests(&text))))
            .collect();
        let of_tests: Vec<ModulePath> = modules
            .iter()
            .flat_map(|(parent, (_, source))| source.test_modules.iter().map(|name| child(parent, name)))
            .collect();
        modules.retain(|module, _| !of_tests.iter().any(|tests| module.starts_with(tests)));
        Modules(modules)
    }

    /// Returns a message for each cycle: all uses that it consists of.
    ///
    /// A module and its child also form a cycle, if the child uses an item of the module's own file, and that
    /// file uses an item of the child. This is not checked for the modules in `exempt`.
    pub fn cycles(&self, exempt: &[&str]) -> Vec<String> {
        let mut levels: BTreeMap<ModulePath, Siblings> = BTreeMap::new();
        for (module, target, used) in self.uses() {
            let common = module.iter().zip(&target).take_while(|(one, other)| one == other).count();
            let is_exempt = exempt.contains(&module[..common].join("::").as_str());
            if is_exempt && (common == module.len() || common == target.len()) {
                continue;
            }
            let name = |path: &ModulePath| path.get(common).map_or("self", String::as_str).to_owned();
            let siblings = levels.entry(module[..common].to_vec()).or_default();
            siblings.0.entry(name(&module)).or_default().entry(name(&target)).or_insert(used);
        }
        levels.iter().flat_map(|(parent, siblings)| siblings.describe_cycles(parent)).collect()
    }

    /// Returns all uses: the module, the module that defines what it uses, and the place.
    fn uses(&self) -> Vec<(ModulePath, ModulePath, Use)> {
        let mut uses = Vec::new();
        for (module, (file, source)) in &self.0 {
            let imported = source.imports.iter().map(|import| (&import.path, import.name.is_some()));
            for (path, is_import) in imported.chain(source.paths.iter().map(|path| (path, false))) {
                let Some((target, is_module)) = self.resolve(module, path, 0) else { continue };
                // The import of a parent's name is not yet a use of an item in the parent's file.
                let is_name_of_parent = is_import && is_module && module.starts_with(&target);
                if target != *module && !is_name_of_parent {
                    let used = Use { file: file.clone(), path: path.join("::") };
                    uses.push((module.clone(), target, used));
                }
            }
        }
        uses
    }

    /// Returns the module that defines what `path` names in a module, and whether the path names the module
    /// itself. Returns `None` if it is not in this crate.
    fn resolve(&self, module: &ModulePath, path: &[String], depth: usize) -> Option<(ModulePath, bool)> {
        if depth > MAX_IMPORT_DEPTH {
            return None;
        }
        let mut current = module.clone();
        for (index, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" => current.clear(),
                "super" => drop(current.pop()),
                "self" => {}
                name if self.0.contains_key(&child(&current, name)) => current.push(name.to_owned()),
                name => {
                    let imports = &self.0.get(&current)?.1.imports;
                    let named = |import: &&super::rust_paths::Import| import.name.as_deref() == Some(name);
                    let Some(import) = imports.iter().find(named) else {
                        // The first name of a path is then the name of another crate, or of a type.
                        return (index > 0).then_some((current, false));
                    };
                    if import.path.first().map(String::as_str) == Some(name) && import.path.len() == 1 {
                        return None;
                    }
                    let (target, is_module) = self.resolve(&current, &import.path, depth + 1)?;
                    if !is_module {
                        return Some((target, false));
                    }
                    current = target;
                }
            }
        }
        Some((current, true))
    }
}

impl Siblings {
    /// Returns the modules that a module uses directly or indirectly.
    fn reachable(&self, from: &str) -> BTreeSet<&str> {
        let (mut found, mut pending) = (BTreeSet::new(), vec![from]);
        while let Some(module) = pending.pop() {
            for next in self.0.get(module).into_iter().flatten().map(|(next, _)| next.as_str()) {
                if found.insert(next) {
                    pending.push(next);
                }
            }
        }
        found
    }

    fn describe_cycles(&self, parent: &ModulePath) -> Vec<String> {
        let reachable: BTreeMap<&str, BTreeSet<&str>> =
            self.0.keys().map(|module| (module.as_str(), self.reachable(module))).collect();
        let mut described = BTreeSet::new();
        let mut messages = Vec::new();
        for (module, others) in &reachable {
            if !others.contains(module) || !described.insert(*module) {
                continue;
            }
            let is_member = |other: &str| reachable.get(other).is_some_and(|back| back.contains(module));
            let members: Vec<&str> = others.iter().copied().filter(|other| is_member(other)).collect();
            described.extend(&members);
            let path = ["crate"].into_iter().chain(parent.iter().map(String::as_str)).collect::<Vec<_>>();
            let mut message = format!("{}: {} use each other", path.join("::"), members.join(", "));
            for (user, used) in self.0.iter().filter(|(user, _)| members.contains(&user.as_str())) {
                for (target, Use { file, path }) in
                    used.iter().filter(|(target, _)| members.contains(&target.as_str()))
                {
                    message.extend(["\n    ", user, " -> ", target, ": ", file, " names ", path]);
                }
            }
            messages.push(message);
        }
        messages
    }
}

fn child(parent: &[String], name: &str) -> ModulePath {
    parent.iter().map(String::as_str).chain([name]).map(str::to_owned).collect()
}

/// Returns the path of the module in a file.
fn module_path(file: &str) -> ModulePath {
    let path = file.trim_end_matches(".rs");
    let mut segments: ModulePath = path.split('/').map(str::to_owned).collect();
    if let Some("mod" | "lib" | "main") = segments.last().map(String::as_str) {
        segments.pop();
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)], exempt: &[&str]) -> Vec<String> {
        let files = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        Modules::new(files).cycles(exempt)
    }

    #[test]
    fn cycle_of_siblings_is_described() {
        let files = [
            ("lib.rs", "mod x;"),
            ("x/mod.rs", "mod a; mod b; mod c;"),
            ("x/a.rs", "use super::{b::B, c};"),
            ("x/b.rs", "fn f() { crate::x::c::g() }"),
            ("x/c/mod.rs", "mod d;"),
            ("x/c/d.rs", "use super::super::a::A;"),
        ];
        let expected = "crate::x: a, b, c use each other
    a -> b: x/a.rs names super::b::B
    a -> c: x/a.rs names super::c
    b -> c: x/b.rs names crate::x::c::g
    c -> a: x/c/d.rs names super::super::a::A";
        assert_eq!(cycles(&files, &[]), [expected]);
        assert!(cycles(&files[..5], &[]).is_empty());
    }

    #[test]
    fn cycle_of_module_and_child_is_found() {
        let files = [
            ("lib.rs", "mod x;"),
            ("x/mod.rs", "mod a; pub struct X; fn f() { a::g() }"),
            ("x/a.rs", "use crate::x::X;"),
        ];
        let expected = "crate::x: a, self use each other
    a -> self: x/a.rs names crate::x::X
    self -> a: x/mod.rs names a::g";
        assert_eq!(cycles(&files, &[]), [expected]);
        assert!(cycles(&files, &["x"]).is_empty());
    }

    #[test]
    fn reexport_counts_as_its_definition() {
        let files = [
            ("lib.rs", "mod x;"),
            ("x/mod.rs", "mod a; mod b; pub use a::A; use std::fmt;"),
            ("x/a.rs", "use super::fmt;"),
            ("x/b.rs", "use super::A;"),
        ];
        assert!(cycles(&files, &[]).is_empty());
        let back = ("x/a.rs", "use crate::x::b;");
        assert_eq!(cycles(&[files[0], files[1], back, files[3]], &[]).len(), 1);
    }

    #[test]
    fn code_of_tests_is_ignored() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; #[cfg(test)] mod tests;"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a; }"),
            ("a/tests.rs", "use super::*; use crate::c;"),
        ];
        assert!(cycles(&files, &[]).is_empty());
    }
}
