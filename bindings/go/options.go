package varve

// VerifyOptions are what Session.Verify takes.
type VerifyOptions struct {
	Deep bool `json:"deep,omitempty"` // compares what is in the index with the log, too
}

// RepairOptions are what Session.Repair takes.
type RepairOptions struct {
	DryRun      bool `json:"dry_run,omitempty"`      // only reports
	AcceptEdits bool `json:"accept_edits,omitempty"` // whose checksum alone is wrong stays, with a new one
}

// CompactOptions are what Session.Compact takes.
type CompactOptions struct {
	DryRun     bool    `json:"dry_run,omitempty"`     // only reports what would go
	EvictBelow float64 `json:"evict_below,omitempty"` // what is less relevant goes, too: 0 to 2
}

// PurgeOptions are what Session.Purge takes.
type PurgeOptions struct {
	DryRun bool `json:"dry_run,omitempty"` // only reports what would go
}

// MigrateOptions are what Session.Migrate takes.
type MigrateOptions struct {
	DryRun bool `json:"dry_run,omitempty"` // only reports
}

// ExportOptions are what Session.ExportFile takes, and without Overwrite Session.Export.
type ExportOptions struct {
	Format    string `json:"format,omitempty"`    // jsonl, json, markdown
	Query     *Query `json:"query,omitempty"`     // conditions only
	Overwrite bool   `json:"overwrite,omitempty"` // replaces a file that is there
}

// ImportOptions are what Session.ImportFile takes.
type ImportOptions struct {
	Format string `json:"format,omitempty"`  // auto, jsonl, json, mcp, chat
	DryRun bool   `json:"dry_run,omitempty"` // only reports
}

// BackupOptions are what Store.Backup takes.
type BackupOptions struct {
	Sessions []string `json:"sessions,omitzero"` // only these
	// DeleteMissing, unless it is false, removes copies of sessions that are no longer there.
	DeleteMissing *bool `json:"delete_missing,omitempty"`
}

// RestoreOptions are what Store.Restore takes.
type RestoreOptions struct {
	Sessions       []string `json:"sessions,omitzero"` // only these
	Overwrite      bool     `json:"overwrite,omitempty"`
	TombstonesFrom string   `json:"tombstones_from,omitempty"` // a store or backup whose deletions count, too
}
