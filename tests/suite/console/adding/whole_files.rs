//! Files that are sent with their form, as browsers without scripts do.

use super::{
    FILE, VENDOR, WHOLE, count_codebases, find_codebase, get_codebase, market, market_with, send_form, sha256,
};
use crate::harness::{archives::zip_of, browser::Browser};

#[tokio::test]
async fn file_is_sent_without_a_script() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let zip = zip_of(&[("README.md", "# Kiosk\n\nSells papers.\n")]);
    let fields =
        [("form_key", "once"), ("kind", "codebase"), ("title", "Kiosk"), ("exclusivity", "available")];
    browser.get(FILE).await.expect(200, &format!("action=\"{WHOLE}\"")).expect(200, "multipart/form-data");
    let refused = send_form(&browser, WHOLE, &fields[..2], ("kiosk.zip", &zip)).await;
    refused.expect(422, "Enter a title").expect(422, &format!("action=\"{WHOLE}\""));
    refused.expect(422, "value=\"once\"");
    send_form(&browser, WHOLE, &fields, ("", b"")).await.expect(422, "Choose a zip file");
    send_form(&browser, WHOLE, &fields, ("kiosk.zip", b"PK"))
        .await
        .expect(422, "too small to be a zip: it has 2 bytes.");
    let cross = [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "cross-site")];
    assert_eq!(browser.send_typed(WHOLE, &cross, "--edge--\r\n").await.status(), 403);
    let typed = [("content-type", "text/plain"), ("sec-fetch-site", "same-origin")];
    assert_eq!(browser.send_typed(WHOLE, &typed, "x").await.status(), 400);
    let cut = [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "same-origin")];
    let body = "--edge\r\ncontent-disposition: form-data; name=\"title\"\r\n\r\nKios";
    browser.send_typed(WHOLE, &cut, body).await.expect(400, "did not arrive completely");
    assert_eq!(count_codebases(&market).await, 0);

    let sent = send_form(&browser, WHOLE, &fields, ("kiosk.zip", &zip)).await;
    assert_eq!(sent.status(), 303, "{}", sent.visible());
    let page = browser.open(sent.location()).await;
    page.expect(200, "kiosk.zip").expect(200, "Kiosk").expect(200, &sha256(&zip));
    let again = send_form(&browser, WHOLE, &fields, ("kiosk.zip", &zip)).await;
    assert_eq!(again.location(), sent.location(), "the same form once more");
    let other = zip_of(&[("README.md", "# Another\n")]);
    let other = send_form(&browser, WHOLE, &fields, ("kiosk.zip", &other)).await;
    other.expect(422, "You have sent this form before, with other values");
    assert!(!other.text.contains("value=\"once\""), "another key, so that it can be sent once more");
    assert_eq!(count_codebases(&market).await, 1);
    assert!(!browser.get("/console/inventory/add").await.text.contains("Unfinished"));
    market.run_background();
    let codebase = get_codebase(&market, &find_codebase(&market, "Kiosk").await).await;
    assert_eq!(codebase["description"], "Sells papers.");
}

#[tokio::test]
async fn whole_file_is_refused_if_it_is_too_large_or_has_a_hostile_name() {
    let market = market_with(&[], |settings| settings.blobs.max_upload_bytes = 2_000);
    let browser = Browser::signed_in(&market, VENDOR).await;
    let fields = [("kind", "raw_data"), ("title", "Letters")];
    let large = vec![b'x'; 2_001];
    send_form(&browser, WHOLE, &fields, ("a.zip", &large))
        .await
        .expect(413, "At most 2.0 KB can be sent here.");
    let larger = vec![b'x'; 200_000];
    send_form(&browser, WHOLE, &fields, ("a.zip", &larger))
        .await
        .expect(413, "At most 2.0 KB can be sent here.");
    let long = "t".repeat(300_000);
    send_form(&browser, WHOLE, &[("title", &long)], ("a.zip", b"x")).await.expect(413, "is too large");

    let zip = zip_of(&[("a", "b")]);
    for (name, problem) in [("a\u{202e}piz.exe", "control characters"), (&*"a".repeat(300), "at most 255")] {
        let refused = send_form(&browser, WHOLE, &fields, (name, &zip)).await;
        refused.expect(422, problem);
    }
    // No head of a field has such a character.
    send_form(&browser, WHOLE, &fields, ("a\u{7}.zip", &zip))
        .await
        .expect(400, "Send it from the page again");
    for (name, shown) in [
        ("../../etc/passwd", "passwd"),
        ("C:\\fakepath\\<img src=x>.zip", "&lt;img src=x&gt;.zip"),
        ("письма.zip", "письма.zip"),
    ] {
        let sent = send_form(&browser, WHOLE, &fields, (name, &zip)).await;
        assert_eq!(sent.status(), 303, "{name}: {}", sent.visible());
        let page = browser.open(sent.location()).await;
        page.expect(200, &format!("<bdi>{shown}</bdi>"));
        assert!(!page.text.contains("<img src=x>") && !page.text.contains("etc/"), "{}", page.visible());
    }
    let two =
        "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n".repeat(2);
    let headers = [("content-type", "multipart/form-data; boundary=edge"), ("sec-fetch-site", "same-origin")];
    let refused = browser.send_typed(WHOLE, &headers, format!("{two}--edge--\r\n")).await;
    refused.expect(400, "Choose one file.");
    assert!(!browser.get("/console/inventory/add").await.text.contains("Unfinished"));
}
