package cluster

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

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// addressText resolves the placeholders of addresses that have passwords in them. Its errors show
// none of an address: what is written wrongly may be a part of a password.
type addressText struct {
	logger  *zap.Logger
	secrets []string
	files   []*secret.File // of placeholders
}

// know notes a password of an address, and warns if it is written there itself.
func (t *addressText) know(owner, written, password string) {
	if password == "" {
		return
	}
	t.secrets = append(t.secrets, password)
	if plain, err := url.PathUnescape(written); strings.Contains(written, password) || err == nil && strings.Contains(plain, password) {
		core.WarnOfLiteral(t.logger, "cluster "+owner)
	}
}

var addressPlaceholder = regexp.MustCompile(`\{[^{}]*\}`)

// addressValue is an address with the values of its placeholders, which may change with their
// files.
type addressValue struct {
	text   string
	found  [][]int        // where the placeholders are
	values []*secret.Text // what stands for them
	escape func(value, before, after string) string
}

// parse finds the placeholders of an address. Escape writes a value as it must stand in its place.
// A text that is one placeholder becomes its value.
func (t *addressText) parse(text string, escape func(value, before, after string) string) (*addressValue, error) {
	v := &addressValue{text: text, found: addressPlaceholder.FindAllStringIndex(text, -1), escape: escape}
	for _, at := range v.found {
		value, err := secret.Parse(text[at[0]:at[1]])
		if err != nil {
			return nil, err
		}
		if value.File() != nil {
			t.files = append(t.files, value.File())
		}
		v.values = append(v.values, value)
	}
	return v, nil
}

// String returns the address as it is at present.
func (v *addressValue) String() string {
	var out strings.Builder
	end := 0
	for i, at := range v.found {
		value := v.values[i].Value()
		if at[0] > 0 || at[1] < len(v.text) {
			value = v.escape(value, v.text[:at[0]], v.text[at[1]:])
		}
		out.WriteString(v.text[end:at[0]])
		out.WriteString(value)
		end = at[1]
	}
	out.WriteString(v.text[end:])
	return out.String()
}

// changes reports whether a file stands in the address.
func (v *addressValue) changes() bool {
	return slices.ContainsFunc(v.values, func(t *secret.Text) bool { return t.File() != nil })
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
func (t *addressText) dsn(text string) (*addressValue, error) {
	if strings.Contains(text, "://") {
		return t.parse(text, inURL)
	}
	return t.parse(text, inSetting)
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

var errValkeyURL = errors.New("want valkey://USER:PASSWORD@HOST:PORT, or valkeys:// for TLS; " +
	"write other characters than letters and digits of a password as %XX, or use a placeholder")

// parseValkey returns the parts of an address of Valkey.
func parseValkey(text string, sentinel bool) (a valkeyAddress, err error) {
	u, err := url.Parse(text)
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
