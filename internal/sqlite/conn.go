package sqlite

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// conn is a connection with its prepared statements.
type conn struct {
	*sqlite3.Conn
	statements map[string]*sqlite3.Stmt
	busy       map[*sqlite3.Stmt]bool
}

type connKind int

const (
	readConn connKind = iota
	writeConn
)

// connect opens a connection for reading or writing.
func (db *DB) connect(kind connKind) (*conn, error) {
	raw, err := db.rawConn(db.opts.ReadOnly)
	if err != nil {
		return nil, classify("open a connection", err)
	}
	setup := "PRAGMA synchronous=" + db.level("FULL") + "; PRAGMA cache_size=-8192; PRAGMA temp_store=MEMORY; PRAGMA secure_delete="
	if db.opts.insecureDelete {
		setup += "OFF"
	} else {
		setup += "ON"
	}
	setup += fmt.Sprintf("; PRAGMA max_page_count=%d", maxPages)
	if kind == readConn {
		setup += "; PRAGMA query_only=ON"
	}
	err = raw.BusyTimeout(db.opts.BusyTimeout)
	if err == nil {
		err = raw.Exec(setup)
	}
	if err != nil {
		return nil, classify("set up a connection", errors.Join(err, raw.Close()))
	}
	return &conn{raw, map[string]*sqlite3.Stmt{}, map[*sqlite3.Stmt]bool{}}, nil
}

// run executes a statement with parameters and calls each for every row. A
// statement may run inside another run of itself.
func (c *conn) run(sql string, each func(*sqlite3.Stmt) error, params ...any) (err error) {
	s, err := c.statement(sql)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, c.release(sql, s))
	}()
	for i, p := range params {
		if err := bind(s, i+1, p); err != nil {
			return err
		}
	}
	for s.Step() {
		if each != nil {
			if err := each(s); err != nil {
				return err
			}
		}
	}
	return s.Err()
}

func (c *conn) statement(sql string) (*sqlite3.Stmt, error) {
	if s, ok := c.statements[sql]; ok && !c.busy[s] {
		c.busy[s] = true
		return s, nil
	}
	s, _, err := c.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if _, ok := c.statements[sql]; !ok {
		c.statements[sql] = s
	}
	c.busy[s] = true
	return s, nil
}

func (c *conn) release(sql string, s *sqlite3.Stmt) error {
	delete(c.busy, s)
	if c.statements[sql] != s {
		return s.Close()
	}
	_ = s.Reset() // reports the error of the last step again
	return s.ClearBindings()
}

func bind(s *sqlite3.Stmt, i int, p any) error {
	switch v := p.(type) {
	case int64:
		return s.BindInt64(i, v)
	case uint64:
		return s.BindInt64(i, int64(v))
	case string:
		return s.BindText(i, v)
	case []byte:
		return s.BindBlob(i, v)
	case nil:
		return s.BindNull(i)
	}
	return errors.New("sqlite: a parameter of an unknown type")
}

// Close finishes the statements and closes the connection.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}
