//! Tests of what the attribute writes, and of its errors.

use proc_macro2::TokenStream;
use quote::quote;

use super::block::expand;

/// Returns what a block with this handler becomes, without spaces, or the errors.
fn expanded(handler: &TokenStream) -> String {
    let arguments = quote!(prefix = "/v2", tag = Listings);
    match expand(arguments, quote!(impl ThingsApi { #handler })) {
        Ok(tokens) => tokens.to_string().replace(' ', ""),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn handler_becomes_a_route() {
    let output = expanded(&quote! {
        /// Feature a thing
        #[post("/things/{thing_id}/feature", change("things"))]
        async fn feature_thing(
            call: Call<Operator>,
            thing_id: Path<Uuid>,
            idempotent: Idempotent,
            #[example(json!({"place": 90}))] body: Body<Place>,
        ) -> JsonResult<Thing> { feature(call, thing_id, body).await }
    });
    for expected in [
        "pubstructThingsApi;",
        r#"OpenApi(prefix_path="/v2",tag="::marketplace::rest::tags::Tag::Listings")"#,
        r#"#[doc=r"Featureathing"]#[oai(path="/things/:thing_id/feature",method="post",operation_id="feature_thing")]"#,
        r#"asyncfnfeature_thing(&self,call:Call<Operator>,#[doc="IDofthething."]thing_id:Path<Uuid>,idempotent:Idempotent,body:Body<Place>"#,
        r#"DeclaredRoute::new("feature_thing",<Call<Operator>as::marketplace::rest::route::ProvesAccess>::REQUIRED"#,
        r#"Repeatability::OncePerKey,Some(||json!({"place":90})),"#,
        r#"constATTRIBUTES:::marketplace::rest::route::RouteAttributes=change("things");"#,
    ] {
        assert!(output.contains(expected), "{expected} is not in\n{output}");
    }
}

#[test]
fn texts_are_put_together() {
    let output = expanded(&quote! {
        #[doc = concat!("Get ", "a thing")]
        #[get(concat!("/things", "/{slug}"), get("things"))]
        async fn get_thing(
            call: Call<Operator>,
            #[doc = concat!("Slug of the ", "thing", ".")] slug: Path<String>,
        ) -> JsonResult<Thing> { get(call, slug).await }
    });
    for expected in [
        r#"#[doc="Getathing"]#[oai(path="/things/:slug",method="get",operation_id="get_thing")]"#,
        r#"#[doc="Slugofthething."]slug:Path<String>"#,
    ] {
        assert!(output.contains(expected), "{expected} is not in\n{output}");
    }
}

/// Checks that each of these handlers is rejected with a message that contains a text.
fn assert_rejected(rows: &[(&str, &str)]) {
    for (handler, expected) in rows {
        let errors = expanded(&format!("/// Summary\n{handler}").parse().unwrap());
        assert!(errors.contains(expected), "{expected} is not in\n{errors}");
    }
}

#[test]
fn omissions_are_errors() {
    assert_rejected(&[
        ("const LIMIT: u8 = 1;", "only handlers belong"),
        ("async fn list(call: Call<Vendor>) {}", "state the method, the path, and the attributes"),
        (r#"#[get("/things")] async fn list(call: Call<Vendor>) {}"#, "expected `,`"),
        (r#"#[get("/things", R)] async fn list() {}"#, "the first argument"),
        (
            r#"#[get("/tags/{slug}", R)] async fn get(call: Call<Vendor>, slug: Path<String>) {}"#,
            "describe the path parameter",
        ),
        (r#"#[post("/things", R)] async fn create(call: Call<Vendor>) {}"#, "takes `Idempotent`"),
        (
            r#"#[post("/things", R)] async fn create(change: Change, body: Body<Thing>) {}"#,
            "give the body an example",
        ),
    ]);
    let errors = expanded(&quote!(
        #[get("/things", R)]
        async fn list(call: Call<Vendor>) {}
    ));
    assert!(errors.contains("begin with a doc comment"), "{errors}");
}

#[test]
fn contradictions_are_errors() {
    assert_rejected(&[
        (r#"#[get("/things", R)] async fn list(&self, call: Call<Vendor>) {}"#, "no `self`"),
        (
            r#"#[get("/a/{a_id}/b/{b_id}", R)] async fn get(call: Call<Vendor>, b_id: Path<Uuid>, a_id: Path<Uuid>) {}"#,
            "the names and the order",
        ),
        (r#"#[get("/things", R)] async fn list(call: Call<Vendor>, limit: Query<u8>) {}"#, "by `Params`"),
        (
            r#"#[get("/things", R)] async fn list(call: Call<Vendor>, a: Params<A>, b: Params<B>) {}"#,
            "by one `Params`",
        ),
        (r#"#[put("/things", R)] async fn put(change: Change) {}"#, "takes `Idempotent`"),
        (
            r#"#[post("/things", R)] async fn create(#[example(json!({}))] change: Change) {}"#,
            "only a `Body`",
        ),
    ]);
}

#[test]
fn all_errors_are_reported() {
    let errors = expanded(&quote! { async fn a() {} async fn b() {} });
    assert_eq!(errors.lines().count(), 2, "{errors}");
}
