//! A browser without scripts: it keeps the cookie of a session, and sends the forms that pages have.

use std::{borrow::Cow, sync::LazyLock};

use marketplace::console::{self, PREFIX, PageRow};
use poem::{Body, http::Method};

use super::{
    TestMarket, TestResponse,
    documents::matches_template,
    markup::{self, unescape},
    patterns::pattern,
};

/// Somebody who uses the web app of a market.
pub struct Browser<'m> {
    market: &'m TestMarket,
    cookie: Option<String>,
}

/// A page, or another answer of the web app.
#[derive(Clone, Debug)]
pub struct Page {
    /// The response.
    pub response: TestResponse,
    /// Its body.
    pub text: String,
}

impl Page {
    fn new(response: TestResponse) -> Page {
        let text = String::from_utf8_lossy(&response.bytes).into_owned();
        Page { response, text }
    }

    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.response.status
    }

    /// Returns the path that a redirect leads to.
    pub fn location(&self) -> &str {
        self.response.header("location")
    }

    /// Fails unless the page has this status and contains this text.
    #[track_caller]
    pub fn expect(&self, status: u16, text: &str) -> &Page {
        assert_eq!(self.status(), status, "{}", self.visible());
        assert!(self.text.contains(text), "{text:?} is not in: {}", self.visible());
        self
    }

    /// Returns the text of the main part without tags, for messages.
    pub fn visible(&self) -> String {
        let main = self.text.split("<main").nth(1).unwrap_or(&self.text);
        replace_tags(main, " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the fields of the form that is sent to a path, with the values that they have.
    #[track_caller]
    pub fn form(&self, action: &str) -> Vec<(String, String)> {
        let own = format!(" action=\"{action}\"");
        // Another form may lead to the same path with what is chosen in its query.
        let is_own = |tag: &str| tag.contains(&own) && tag.contains(" method=\"post\"");
        let mut forms = self.text.split("<form").skip(1).filter_map(|form| form.split_once('>'));
        let Some((_, form)) = forms.find(|(tag, _)| is_own(tag)) else {
            panic!("no form for {action} in: {}", self.visible())
        };
        let form = form.split("</form>").next().unwrap_or_default();
        let inputs = pattern(r"<(input|textarea|select)([^>]*)>([^<]*)");
        inputs.captures_iter(form).filter_map(|input| field(form, &input)).collect()
    }
}

/// Replaces the tags of markup.
pub fn replace_tags<'t>(markup: &'t str, replacement: &str) -> Cow<'t, str> {
    pattern("<[^>]*>").replace_all(markup, replacement)
}

/// Returns the text of markup.
pub fn text_of(markup: &str) -> String {
    unescape(&replace_tags(markup, ""))
}

/// Returns the row of the table of pages that an address belongs to.
pub fn row_of(address: &str) -> Option<PageRow> {
    static ROWS: LazyLock<Vec<PageRow>> = LazyLock::new(console::pages);
    let path = address.split(['?', '#']).next()?.strip_prefix(PREFIX)?;
    let of_path = ROWS.iter().filter(|row| matches_template(row.path, path));
    // What is stated wins over parameters.
    of_path.min_by_key(|row| row.path.matches('{').count()).copied()
}

/// Returns the name and the value of a field, unless it is a choice that is not chosen.
fn field(form: &str, input: &regex::Captures) -> Option<(String, String)> {
    let attributes = &input[2];
    let name = attribute(attributes, "name")?;
    let kind = attribute(attributes, "type").unwrap_or_default();
    let is_chosen = attributes.split(' ').any(|attribute| attribute == "checked");
    if ["checkbox", "radio"].contains(&kind.as_str()) && !is_chosen {
        return None;
    }
    let value = match &input[1] {
        "textarea" => unescape(input[3].trim_start_matches('\n')),
        "select" => {
            let select = &form[input.get(0).unwrap().start()..];
            let options = select.split("</select>").next().unwrap();
            let chosen = options.split("<option").skip(1).find(|option| option.contains(" selected"));
            let option = chosen.or_else(|| options.split("<option").nth(1)).unwrap_or_default();
            attribute(option, "value").unwrap_or_default()
        }
        _ => attribute(attributes, "value").unwrap_or_default(),
    };
    Some((name, value))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    value.split_once('"').map(|(value, _)| unescape(value))
}

impl<'m> Browser<'m> {
    /// Opens a browser without a session.
    pub const fn new(market: &'m TestMarket) -> Browser<'m> {
        Browser { market, cookie: None }
    }

    /// Opens a browser, and signs in.
    pub async fn signed_in(market: &'m TestMarket, key: &str) -> Browser<'m> {
        let mut browser = Browser::new(market);
        let answer = browser.sign_in(key).await;
        assert_eq!(answer.status(), 303, "{}", answer.visible());
        browser
    }

    /// Sends the form for signing in, and keeps the cookie.
    pub async fn sign_in(&mut self, key: &str) -> Page {
        let answer = self.post("/console/sign-in", &[("key", key)]).await;
        if let Some(cookie) = answer.response.headers.get("set-cookie") {
            self.cookie = Some(cookie.to_str().unwrap().split(';').next().unwrap().to_owned());
        }
        answer
    }

    /// Returns the cookie: name and value.
    pub fn cookie(&self) -> &str {
        self.cookie.as_deref().unwrap_or_default()
    }

    /// Replaces the cookie.
    pub fn set_cookie(&mut self, cookie: &str) {
        self.cookie = Some(cookie.to_owned());
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Page {
        self.send(Method::GET, path, &[], String::new()).await
    }

    /// Returns the number of statements that a page executes. Background work can only add to it.
    pub async fn count_statements(&self, path: &str) -> u64 {
        let mut minimum = u64::MAX;
        for _ in 0..3 {
            let before = self.market.market().statement_count();
            let page = self.get(path).await;
            assert!(page.status() < 400, "{path}: {}", page.visible());
            minimum = minimum.min(self.market.market().statement_count() - before);
        }
        minimum
    }

    /// Opens a page, and follows where it leads.
    pub async fn open(&self, path: &str) -> Page {
        let mut page = self.get(path).await;
        for _ in 0..5 {
            if page.status() != 303 {
                break;
            }
            page = self.get(page.location()).await;
        }
        page
    }

    /// Sends fields to a path, as a form does.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.send(Method::POST, path, &[("sec-fetch-site", "same-origin")], encode(fields)).await
    }

    /// Sends the form of a page with some fields changed. A field is left out if its new value is empty.
    pub async fn submit(&self, page: &Page, action: &str, changes: &[(&str, &str)]) -> Page {
        let mut fields = page.form(action);
        fields.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        let mut all: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend(changes.iter().filter(|(_, value)| !value.is_empty()));
        self.post(action, &all).await
    }

    /// Opens the newest unread notification with this title, as the button of the list does. Returns where it leads.
    pub async fn open_notification(&self, title: &str) -> String {
        let list = self.get("/console/notifications?state=unread").await;
        let end = list.text.find(&format!("<b>{title}")).unwrap_or_else(|| panic!("{}", list.visible()));
        let (_, action) = list.text[..end].rsplit_once("action=\"").expect("a form with the title");
        let action = action.split('"').next().unwrap_or_default().to_owned();
        let opened = self.submit(&list, &action, &[]).await;
        assert_eq!(opened.status(), 303, "{}", opened.visible());
        opened.location().to_owned()
    }

    /// Sends a request with the cookie.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Page {
        let mut all = headers.to_vec();
        if method == Method::POST {
            all.push(("content-type", "application/x-www-form-urlencoded"));
        }
        if let Some(cookie) = &self.cookie {
            all.push(("cookie", cookie));
        }
        Page::new(self.market.send_body(method, path, &all, body).await)
    }

    /// Sends a body with the cookie and these headers only.
    pub async fn send_typed(&self, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Page {
        let mut all = headers.to_vec();
        all.push(("cookie", self.cookie()));
        all.retain(|(_, value)| !value.is_empty());
        Page::new(self.market.send_body(Method::POST, path, &all, body).await)
    }
}

/// Opens a page, which has to be correct markup.
pub async fn open(browser: &Browser<'_>, path: &str) -> Page {
    let page = browser.get(path).await;
    assert_eq!(page.status(), 200, "{path}: {}", page.visible());
    markup::parse(&page.text).unwrap_or_else(|fault| panic!("{path}, {fault}: {}", page.visible()));
    page
}

fn encode(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
