package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Address is what an address of a database says. String shows what is no secret.
type Address struct {
	Host     string
	Port     uint16
	Database string
	User     string
	Password string
	Plain    []string // the hosts to which a connection may go without TLS
}

// ParseAddress checks an address (a URL or "host=… dbname=…"), and reads the files that it names. The
// error shows nothing of it but the names of files.
func ParseAddress(dsn string) (Address, error) {
	config, err := pgxpool.ParseConfig(dsn)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return Address{}, fmt.Errorf("a file that the address names: %w", file)
	case err != nil:
		return Address{}, errors.New(`the address is not valid: want postgres://USER:PASSWORD@HOST:PORT/DATABASE, or "host=… user=… password=… dbname=…"`)
	}
	c := config.ConnConfig
	a := Address{Host: c.Host, Port: c.Port, Database: c.Database, User: c.User, Password: c.Password}
	for _, try := range append([]*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if try.TLSConfig == nil {
			a.Plain = append(a.Plain, try.Host)
		}
	}
	return a, nil
}

// String returns user, host, port and database.
func (a Address) String() string {
	return fmt.Sprintf("%s@%s/%s", a.User, net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port))), a.Database)
}
