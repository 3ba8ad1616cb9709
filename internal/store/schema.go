package store

import (
	"database/sql"
	"errors"
	"fmt"
)

const (
	// applicationID ("GATE") marks our files. A database of another program is refused.
	applicationID = 0x47415445
	// layoutVersion is kept in user_version: the version of this package's own table
	// schema_versions.
	layoutVersion = 1
)

// ErrLocked is wrapped by Open if another process, or another Store of this one, has locked the
// data directory.
var ErrLocked = errors.New("data directory locked")

// ErrNewer is wrapped by Open if the database was written by a newer version of the program.
var ErrNewer = errors.New("written by a newer version")

// Schema has the tables of one part of the program, called Name. Steps are SQL scripts, numbered
// from 1. A database at version n runs the later ones, each in one transaction with its new number.
// Published steps are never changed; new ones are added.
type Schema struct {
	Name  string
	Steps []string
	// Redo returns the operation of a record that Logged.AppendRecord made. At most one Schema has
	// it.
	Redo func(record []byte) (Op, error)
}

// redoOf returns the Redo of the schemas, nil if none has it.
func redoOf(schemas []Schema) (redo func([]byte) (Op, error), err error) {
	for _, schema := range schemas {
		switch {
		case schema.Redo == nil:
		case redo != nil:
			return nil, errors.New("two schemas use the redo log")
		default:
			redo = schema.Redo
		}
	}
	return redo, nil
}

func migrate(tx *Tx, schemas []Schema) error {
	if err := tx.begin(); err != nil {
		return err
	}
	defer tx.rollback()
	if err := adopt(tx); err != nil {
		return err
	}
	if err := tx.commit(); err != nil {
		return err
	}
	for _, schema := range schemas {
		if err := migrateSchema(tx, schema); err != nil {
			return fmt.Errorf("migrating the tables of %q: %w", schema.Name, err)
		}
	}
	return nil
}

// adopt makes an empty file ours, and refuses other files.
func adopt(tx *Tx) error {
	var id, layout, tables int
	for query, dest := range map[string]*int{
		"PRAGMA application_id":              &id,
		"PRAGMA user_version":                &layout,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := tx.Get(query, nil, dest); err != nil {
			return err
		}
	}
	switch {
	case id == applicationID && layout == layoutVersion:
		return nil
	case id == applicationID:
		return fmt.Errorf("%w (layout %d, this one knows %d)", ErrNewer, layout, layoutVersion)
	case id != 0 || tables > 0:
		return errors.New("it belongs to another program")
	}
	_, err := tx.conn.ExecContext(background, fmt.Sprintf(`
		PRAGMA application_id = %d;
		PRAGMA user_version = %d;
		CREATE TABLE schema_versions (room TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;`,
		applicationID, layoutVersion))
	return err
}

func migrateSchema(tx *Tx, schema Schema) error {
	var version int
	err := tx.Get("SELECT version FROM schema_versions WHERE room = ?", []any{schema.Name}, &version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if version > len(schema.Steps) {
		return fmt.Errorf("%w (version %d, this one knows %d)", ErrNewer, version, len(schema.Steps))
	}
	for ; version < len(schema.Steps); version++ {
		if err := migrateStep(tx, schema.Name, version+1, schema.Steps[version]); err != nil {
			return fmt.Errorf("step %d: %w", version+1, err)
		}
	}
	return nil
}

func migrateStep(tx *Tx, name string, version int, step string) error {
	if err := tx.begin(); err != nil {
		return err
	}
	defer tx.rollback()
	if _, err := tx.conn.ExecContext(background, step); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT OR REPLACE INTO schema_versions (room, version) VALUES (?, ?)", name, version); err != nil {
		return err
	}
	return tx.commit()
}
