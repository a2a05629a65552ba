package varve

import (
	"io"

	"varve/internal/raw"
)

// Verify reads every byte of the session's files and checks it; it changes nothing. The options are
// VerifyOptions, another document, or nil.
func (s *Session) Verify(options any) (*VerifyReport, error) {
	return documentWith[VerifyReport](s.caller(), "Session.Verify", options,
		func(options string) ([]byte, *raw.Failure) { return raw.SessionVerify(s.token, options) })
}

// Repair makes a damaged session whole. The options are RepairOptions, another document, or nil.
func (s *Session) Repair(options any) (*RepairReport, error) {
	return documentWith[RepairReport](s.caller(), "Session.Repair", options,
		func(options string) ([]byte, *raw.Failure) { return raw.SessionRepair(s.token, options) })
}

// Compact writes the log anew without deleted and expired entries. The options are CompactOptions,
// another document, or nil.
func (s *Session) Compact(options any) (*CompactReport, error) {
	return documentWith[CompactReport](s.caller(), "Session.Compact", options,
		func(options string) ([]byte, *raw.Failure) { return raw.SessionCompact(s.token, options) })
}

// Purge makes deleted and expired entries gone for good, from every file. The options are
// PurgeOptions, another document, or nil.
func (s *Session) Purge(options any) (*CompactReport, error) {
	return documentWith[CompactReport](s.caller(), "Session.Purge", options,
		func(options string) ([]byte, *raw.Failure) { return raw.SessionPurge(s.token, options) })
}

// Migrate rewrites the log of an earlier format version. The options are MigrateOptions, another
// document, or nil.
func (s *Session) Migrate(options any) (*MigrateReport, error) {
	return documentWith[MigrateReport](s.caller(), "Session.Migrate", options,
		func(options string) ([]byte, *raw.Failure) { return raw.SessionMigrate(s.token, options) })
}

// RebuildIndex throws the index away and builds it anew from the log.
func (s *Session) RebuildIndex(options any) (*RebuildReport, error) {
	return documentWith[RebuildReport](s.caller(), "Session.RebuildIndex", options,
		func(options string) ([]byte, *raw.Failure) {
			return raw.SessionRebuildIndex(s.token, options)
		})
}

// Index is the index as a person can read it; its JSON is indented.
func (s *Session) Index() (*SessionIndex, error) {
	return document[SessionIndex](s.caller(), "Session.Index",
		func() ([]byte, *raw.Failure) { return raw.SessionIndex(s.token) })
}

// Export writes all entries that are neither deleted nor expired, as of one moment. The format is
// "jsonl", "json" or "markdown", or ExportOptions. All of it is in memory once;
// ExportFile is for sessions larger than that.
func (s *Session) Export(writer io.Writer, format any) (written int64, err error) {
	text, err := s.caller().textWith("Session.Export", format,
		func(format string) ([]byte, *raw.Failure) { return raw.SessionExport(s.token, format) })
	if err != nil {
		return 0, err
	}
	count, err := writer.Write(text)
	return int64(count), err
}

// ExportFile writes what Export does into a file, piece by piece. The options are ExportOptions,
// another document, or nil.
func (s *Session) ExportFile(path string, options any) (*ExportReport, error) {
	return documentWith[ExportReport](s.caller(), "Session.ExportFile", options,
		func(options string) ([]byte, *raw.Failure) {
			return raw.SessionExportFile(s.token, path, options)
		})
}

// Import adds entries from what is read: each that is good, whatever the others are. All of it is
// in memory once; ImportFile is for more than that.
func (s *Session) Import(reader io.Reader) (*ImportReport, error) {
	text, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	return document[ImportReport](s.caller(), "Session.Import",
		func() ([]byte, *raw.Failure) { return raw.SessionImport(s.token, textOf(text)) })
}

// ImportFile adds entries from a file, piece by piece. The options are ImportOptions, another
// document, or nil.
func (s *Session) ImportFile(path string, options any) (*ImportReport, error) {
	return documentWith[ImportReport](s.caller(), "Session.ImportFile", options,
		func(options string) ([]byte, *raw.Failure) {
			return raw.SessionImportFile(s.token, path, options)
		})
}

// SetProgress has a function told how far Export, Import, Verify and their forms for files have
// come; nil stops that. An error of it stops the operation, which then fails with ErrCallback and
// that error. It must not close the session nor its store. One that refers to the session is kept,
// and keeps it, until the session itself is closed: to close its store is not enough.
func (s *Session) SetProgress(progress func(Progress) error) error {
	if !s.isOpened() {
		return s.tellProgress(0, 0)
	}
	if progress == nil {
		return replace(&s.callbacks.progress, nil, func() error { return s.tellProgress(0, 0) })
	}
	s.callbacks.mayFail.Store(true)
	userData := s.callbacks.userData("progress", raw.ProgressFn(s.callbacks.report))
	return replace(&s.callbacks.progress, &progress, func() error {
		return s.tellProgress(raw.ProgressFnTrampoline(), userData)
	})
}

func (s *Session) tellProgress(function, userData uintptr) error {
	return s.caller().run("Session.SetProgress", func() *raw.Failure {
		return raw.SessionSetProgress(s.token, function, userData)
	})
}
