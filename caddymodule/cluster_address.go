package caddymodule

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// addressText resolves the placeholders of addresses that have passwords in them. Its errors show
// none of an address: what is written wrongly may be a part of a password.
type addressText struct {
	logger  *zap.Logger
	secrets []string
}

// know notes a password of an address, and warns if it is written there itself.
func (t *addressText) know(owner, written, password string) {
	if password == "" {
		return
	}
	t.secrets = append(t.secrets, password)
	if plain, err := url.PathUnescape(written); strings.Contains(written, password) || err == nil && strings.Contains(plain, password) {
		warnOfLiteral(t.logger, "cluster "+owner)
	}
}

var addressPlaceholder = regexp.MustCompile(`\{[^{}]*\}`)

// expand puts the value of each placeholder in its place, as escape writes it there. A text that is one
// placeholder becomes its value.
func expand(text string, escape func(value, before, after string) string) (string, error) {
	found := addressPlaceholder.FindAllStringIndex(text, -1)
	var out strings.Builder
	end := 0
	for _, at := range found {
		value, _, err := secret.Resolve(text[at[0]:at[1]])
		if err != nil {
			return "", err
		}
		if at[0] > 0 || at[1] < len(text) {
			value = escape(value, text[:at[0]], text[at[1]:])
		}
		out.WriteString(text[end:at[0]])
		out.WriteString(value)
		end = at[1]
	}
	out.WriteString(text[end:])
	return out.String(), nil
}

// inURL escapes what stands before the host of a URL, where a password may have any character.
func inURL(value, _, after string) string {
	if !strings.Contains(after, "@") {
		return value
	}
	return strings.TrimPrefix(url.UserPassword("", value).String(), ":")
}

// inSetting quotes a value of libpq's form "password=… host=…".
func inSetting(value, before, _ string) string {
	value = strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)
	if strings.HasSuffix(before, "=") {
		return "'" + value + "'"
	}
	return value
}

// dsn returns the address of PostgreSQL.
func (t *addressText) dsn(text string) (string, error) {
	if strings.Contains(text, "://") {
		return expand(text, inURL)
	}
	return expand(text, inSetting)
}

// valkeyAddress is the address of one server. User and password are "" without a login.
type valkeyAddress struct {
	hostPort       string // with Sentinels: the name of the master
	user, password string
	secure         bool
}

const (
	valkeyPort   = "6379"
	sentinelPort = "26379"
)

var errValkeyURL = errors.New("want valkey://USER:PASSWORD@HOST:PORT, or valkeys:// for TLS; write other characters than letters and digits of a password as %XX, or use a placeholder")

// valkey returns the parts of an address of Valkey.
func (t *addressText) valkey(text string, sentinel bool) (valkeyAddress, error) {
	a := valkeyAddress{}
	value, err := expand(text, inURL)
	if err != nil {
		return a, err
	}
	u, err := url.Parse(value)
	if err != nil {
		return a, errValkeyURL
	}
	switch u.Scheme {
	case "valkey", "redis":
	case "valkeys", "rediss":
		a.secure = true
	default:
		return a, errValkeyURL
	}
	switch path := strings.TrimPrefix(u.Path, "/"); {
	case path != "" && path != "0":
		return a, errors.New("a database number is not possible: the keys of a cluster have its name, so that it can share a server")
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return a, errors.New("parameters are not possible: TLS and Sentinels have options of their own")
	}
	if u.User != nil {
		a.user = u.User.Username()
		a.password, _ = u.User.Password()
		if a.password == "" {
			return a, errors.New("a user without a password; a password alone is written valkey://:PASSWORD@HOST")
		}
		t.know("valkey", text, a.password)
	}
	if sentinel {
		a.hostPort = u.Host
		return a, nil
	}
	a.hostPort, err = hostPort(u.Host, valkeyPort)
	return a, err
}

// hostPort completes HOST[:PORT].
func hostPort(text, usual string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), usual
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if host == "" || err != nil || number == 0 || slices.ContainsFunc([]rune(host), func(r rune) bool { return strings.ContainsRune("/@ []", r) }) {
		return "", fmt.Errorf("want HOST or HOST:PORT")
	}
	return net.JoinHostPort(host, port), nil
}
