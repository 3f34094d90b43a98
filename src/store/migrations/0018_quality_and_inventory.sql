-- {field: {value, is_from_api}}: what fields were before linked data replaced them. Detaching the data restores it.
ALTER TABLE data_objects ADD COLUMN replaced_values TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(replaced_values));
