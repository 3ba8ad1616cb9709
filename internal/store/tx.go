package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxStatements bounds the prepared statements that are kept. Callers use a few constant texts
// each; a caller that builds SQL from data would grow this without bound.
const maxStatements = 128

// background is the context of commits: a commit belongs to no request, so none can cancel it.
var background = context.Background()

// Tx is the open transaction of the writer. It is valid only inside Apply or a PruneFunc.
type Tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	open  bool
}

// Exec runs a statement. The statement is prepared once and kept, so query should be a constant.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return t.conn.ExecContext(background, query, args...)
	}
	return stmt.ExecContext(background, args...)
}

// Query runs a query, prepared once and kept. The caller must close the rows before it returns.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return t.conn.QueryContext(background, query, args...)
	}
	return stmt.QueryContext(background, args...)
}

// Get scans the first row of a query into dest; sql.ErrNoRows if there is none.
func (t *Tx) Get(query string, args []any, dest ...any) error {
	rows, err := t.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), sql.ErrNoRows)
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return rows.Close()
}

// prepare returns nil without an error if too many statements are kept already.
func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	if t.conn == nil {
		return nil, sql.ErrConnDone
	}
	if len(t.stmts) >= maxStatements {
		return nil, nil
	}
	stmt, err := t.conn.PrepareContext(background, query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = stmt
	return stmt, nil
}

func (t *Tx) begin() error {
	_, err := t.Exec("BEGIN IMMEDIATE")
	t.open = err == nil
	return err
}

func (t *Tx) commit() error {
	_, err := t.Exec("COMMIT")
	if err == nil {
		t.open = false
	}
	return err
}

// rollback has no effect after a commit. Its error is ignored: SQLite has then rolled back itself,
// or the connection is lost and will be replaced.
func (t *Tx) rollback() {
	if t.open {
		_, _ = t.Exec("ROLLBACK")
		t.open = false
	}
}

func (t *Tx) connect(db *sql.DB) error {
	conn, err := db.Conn(background)
	if err != nil {
		return err
	}
	t.conn, t.stmts, t.open = conn, make(map[string]*sql.Stmt), false
	return nil
}

// disconnect closes the connection for good, so that connect opens a new one.
func (t *Tx) disconnect() {
	if t.conn == nil {
		return
	}
	t.rollback()
	for _, stmt := range t.stmts {
		stmt.Close()
	}
	_ = t.conn.Raw(func(any) error { return driver.ErrBadConn })
	t.conn, t.stmts = nil, nil
}

// locked reports whether err is another process's lock on the database.
func locked(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// storageFault reports whether err is a failing disk or file, which a retry may cure, rather than
// an operation that the database will never accept. Errors that are not SQLite's come from the
// operation itself.
func storageFault(err error) bool {
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG,
		sqlite3.SQLITE_RANGE, sqlite3.SQLITE_MISUSE:
		return false
	}
	return true
}
