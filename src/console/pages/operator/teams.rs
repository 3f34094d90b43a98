//! All teams.

use super::{prelude::*, team_details};
use crate::{
    domain::teams::Role,
    operations::{
        team_closures,
        teams::{self, TeamInput},
    },
    store::records::teams::TEAMS as TEAM_RECORDS,
};

/// The resource.
pub struct Teams;

impl Resource for Teams {
    const LIST: &'static str = TEAMS;
    const TITLE: &'static str = "Teams";
    const RECORDS: &'static Records = &TEAM_RECORDS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Teams"));
    const EMPTY: &'static str = "Create the first team. Then give it a key with which people can sign in.";
    const TABS: &'static [(&'static str, &'static str)] = TEAM_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("name", "Name", Plain),
        RecordField::listed("status", "Status", State),
        RecordField::listed("roles", "Roles", Words),
        RecordField::listed("tier", "Tier", Number),
        RecordField::listed("nda_accepted_at", "NDA accepted", Moment),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::detail("id", "ID", Id),
        RecordField::detail("avatar_url", "Avatar", Plain),
        RecordField::detail("payout_setup", "How it is paid", Plain),
        RecordField::detail("closed_at", "Closed", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("name", "Name"),
        ListFilter::choice("role", "Role", text::word_choices::<Role>),
        ListFilter::choice("closed", "Closed", resources::yes_or_no),
    ];

    const DERIVED_COLUMNS: DeriveColumns = |record, _| {
        let status = if record.time("closed_at").is_some() { "closed" } else { "active" };
        record.set("status", Value::Text(status.to_owned()));
    };

    fn team_of(record: &AnyRecord) -> Option<uuid::Uuid> {
        record.id("id")
    }

    const LINKS: Links = team_details::links;

    const STEPS: &'static [Step] = STEPS;

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a team",
        question: "The team gets an empty inventory and an empty wallet. It has no key yet.",
        inputs: &[
            Input::Required(&Input::Line(
                "name",
                "Name",
                "Buyers see it with the listings. It must be unique.",
            )),
            Input::Several("roles", "Roles", text::word_choices::<Role>),
            Input::Choice("tier", "Tier of the seller", TIERS),
            Input::Tick("nda_accepted", "The team has accepted the mutual NDA."),
        ],
        operation: "create_team",
        perform: |writer, _, _, fields| {
            let roles: Vec<Role> = fields.all("roles").filter_map(Role::parse).collect();
            let input = TeamInput {
                name: resources::typed(fields, "name"),
                is_vendor: roles.contains(&Role::Vendor),
                is_buyer: roles.contains(&Role::Buyer),
                tier: tier(fields)?,
                has_accepted_nda: fields.is_checked("nda_accepted"),
            };
            Ok(Some(resources::path_of::<Teams>(&teams::create(writer, &input)?.to_string())))
        },
        ..Step::DEFAULT
    });

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        team_details::read(reader, platform, record).map(Some)
    }
}

const TIERS: &[(&str, &str)] = &[("1", "1, the lowest"), ("2", "2"), ("3", "3, the highest")];

fn tier(fields: &crate::console::forms::Fields) -> Result<u8> {
    Ok(u8::try_from(resources::required_number(fields, "tier")?).unwrap_or_default())
}

fn closed(record: &AnyRecord) -> Option<&'static str> {
    record.time("closed_at").is_some().then_some("The team was closed. It stays as it is.")
}

fn name_of(record: &AnyRecord) -> Result<String> {
    Ok(id_of(record)?.to_string())
}

const STEPS: &[Step] = &[
    Step {
        name: "rename",
        label: "Rename",
        question: "Its listings show the new name from now on.",
        inputs: &[Input::Required(&Input::Line("name", "Name", "It must be unique."))],
        obstacle: closed,
        operation: "update_team",
        perform: |writer, operator, record, fields| {
            let name = resources::typed(fields, "name");
            teams::rename(writer, operator.platform(), &name_of(record)?, name).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "roles",
        label: "Change the roles",
        question: "What exists stays: a team that is no longer a vendor keeps its listings, and one that is no longer a buyer \
                   keeps its purchases. It can no longer change them itself.",
        inputs: &[Input::Several("roles", "Roles", text::word_choices::<Role>)],
        obstacle: closed,
        operation: "update_team",
        perform: |writer, operator, record, fields| {
            let roles: Vec<Role> = fields.all("roles").filter_map(Role::parse).collect();
            teams::set_roles(writer, operator.platform(), &name_of(record)?, &roles).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "tier",
        label: "Change the tier",
        question: "Buyers see the tier of a seller with its listings.",
        inputs: &[Input::Choice("tier", "Tier of the seller", TIERS)],
        obstacle: closed,
        operation: "update_team",
        perform: |writer, operator, record, fields| {
            teams::set_tier(writer, operator.platform(), &name_of(record)?, tier(fields)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "avatar",
        label: "Change the avatar",
        question: "The address of a picture, which the API tells. This web app shows initials instead.",
        inputs: &[Input::Line(
            "avatar_url",
            "Address of the picture",
            "It begins with https://. Leave it empty for none.",
        )],
        obstacle: closed,
        operation: "update_team",
        perform: |writer, operator, record, fields| {
            let url = fields.get("avatar_url");
            teams::set_avatar(writer, operator.platform(), &name_of(record)?, url).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "accept-nda",
        label: "Record the NDA",
        question: "You record that the team has accepted the mutual NDA, for example on paper. It sees the catalog from now on.",
        obstacle: |record| {
            closed(record)
                .or_else(|| record.time("nda_accepted_at").map(|_| "The team has accepted the NDA already."))
        },
        operation: "accept_team_nda",
        perform: |writer, _, record, _| teams::accept_nda(writer, &name_of(record)?).map(|_| None),
        ..Step::DEFAULT
    },
    Step {
        name: "payout",
        label: "Change how it is paid",
        question: "The team is told of the change, and cannot request withdrawals here for some days after it. Teams cannot read \
                   what appears here; only operators can.",
        inputs: &[Input::Lines(
            "payout_setup",
            "How the team is paid",
            "In words, such as its bank account. Leave it empty to delete it.",
        )],
        operation: "update_team",
        perform: |writer, operator, record, fields| {
            let text = fields.get("payout_setup");
            teams::set_payout_setup(writer, operator.platform(), &name_of(record)?, text).map(|()| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "close",
        label: "Close the team",
        question: "The team is closed for good: it cannot be opened again, and nobody can sign in for it. Its name stays taken. \
                   Its earnings stay payable.",
        obstacle: closed,
        preview: Some(|reader, platform, record| team_details::closing(reader, platform, id_of(record)?)),
        retyped_column: "name",
        is_final: true,
        operation: "close_team",
        perform: |writer, operator, record, _| {
            team_closures::close(writer, operator.platform(), Actor::Platform, &name_of(record)?)
                .map(|_| None)
        },
        ..Step::DEFAULT
    },
];
