package operator

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// reader tries the examples at a gateway that has all that the pages name.
type reader struct {
	dir    string   // the working directory
	origin string   // of the gateway
	env    []string // of commands
	values *strings.Replacer

	timeout time.Duration // of an example
}

// values are what the pages write for what each reader has.
func (r *reader) of(b manual.Block) string {
	return r.values.Replace(addresses.ReplaceAllString(b.Text, "$$GATEWAY_URL"))
}

var addresses = regexp.MustCompile(`https?://(?:(?:gateway|gw|ai)\.example(?:\.com)?|127\.0\.0\.1:8080)`)

// exampleTimeout is how long an example may take on a busy machine. One that takes longer waits for
// something that does not come, such as an answer without an end.
const exampleTimeout = time.Minute

func (r *reader) shell(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e")
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, strings.NewReader(text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its programs end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s%s", cmp.Or(ctx.Err(), err), failure.Bytes(), out)
	}
	return string(out), err
}

func TestAnExampleWithoutAnEndFails(t *testing.T) {
	r := &reader{dir: t.TempDir(), env: os.Environ(), timeout: 200 * time.Millisecond}
	if _, err := r.shell("sleep 60 | cat"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ends with %v", err)
	}
}

func (r *reader) script(b manual.Block) error {
	_, err := r.shell(r.of(b))
	return err
}

func (r *reader) session(b manual.Block) error {
	command, answer := "", ""
	try := func() error {
		if command == "" {
			return nil
		}
		out, err := r.shell(command)
		if err == nil && answer != "" {
			err = manual.SameShape(answer, out)
		}
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		command, answer = "", ""
		return err
	}
	for line := range strings.Lines(r.of(b)) {
		begins, ok := strings.CutPrefix(line, "$ ")
		switch {
		case ok:
			if err := try(); err != nil {
				return err
			}
			command = begins
		case command == "":
			return errors.New("the first line has no \"$ \"")
		case answer == "" && (strings.HasSuffix(command, "\\\n") || strings.Count(command, `"`)%2 == 1 || strings.Count(command, `'`)%2 == 1):
			command += line
		default:
			answer += line
		}
	}
	return try()
}

// call sends a request as the key of the pages, and compares the answer. An answer that is not
// documented must be a success.
func (r *reader) call(method, path, header, body, answer string) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.origin+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+harness.Secret("full"))
	request.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(line, ":")
		request.Header.Set(name, strings.TrimSpace(value))
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil && answer != "" {
		err = manual.SameShape(answer, string(got))
	} else if err == nil && resp.StatusCode > 299 {
		err = errors.New(resp.Status)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, got)
	}
	return err
}

func (r *reader) exchange(b manual.Block) error {
	request, answer, _ := strings.Cut(r.of(b), "\n\n")
	line, body, _ := strings.Cut(request, "\n")
	method, path, ok := strings.Cut(strings.TrimSpace(line), " ")
	if !ok {
		return fmt.Errorf("%q is no method and path", line)
	}
	header := ""
	if begin := strings.Index("\n"+body, "\n{"); begin > 0 {
		header, body = body[:begin], body[begin:]
	}
	return r.call(method, path, header, body, answer)
}

func (r *reader) json(b manual.Block) error {
	of := strings.Fields(b.Kind)[1:]
	switch {
	case len(of) == 2:
		return r.call(of[0], of[1], "", "", r.of(b))
	case len(of) == 1:
		return r.loads(of[0], r.of(b))
	}
	return errors.New("the fence does not say what answers so, or which option takes it")
}

// loads tries a file that an option of the gatehouse block names.
func (r *reader) loads(option, text string) error {
	file, err := os.CreateTemp(r.dir, option)
	if err != nil {
		return err
	}
	config := fmt.Sprintf("{\n\tgatehouse {\n\t\t%s %s\n\t\tdata_dir %s.data\n\t\tprovider test {\n\t\t\tdialect test\n\t\t}\n\t}\n}\nhttp://:0 {\n\tgatehouse\n}\n", option, file.Name(), file.Name())
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close(), os.WriteFile(file.Name()+".caddyfile", []byte(config), 0o600)); err == nil {
		_, err = r.shell("caddy validate --adapter caddyfile --config " + file.Name() + ".caddyfile")
	}
	return err
}

// python only compiles: the suites of tests/sdk/python run it (contract.example), with what it needs.
func (r *reader) python(b manual.Block) error {
	_, err := r.shell("python3 -c 'import ast, sys; ast.parse(sys.stdin.read())' <<'END'\n" + r.of(b) + "\nEND\n")
	return err
}

// openManual starts a gateway with what the pages name, and does there what they tell of.
func openManual(t *testing.T) *reader {
	t.Helper()
	for _, program := range []string{"curl", "python3", "sqlite3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	h := harness.Vacant(t)
	t.Setenv("CADDY_ADMIN", "unix/"+h.Dir+"/admin")
	harness.WriteCatalog(h)
	const all = "scopes chat:write models:read activity:read providers:read limits:read keys:manage mcp:call workstations:connect workstations:manage workstations:observe workstations:automate\n"
	h.Run(harness.Setup{
		Keys: "key full {\nsecret {env.KEY_FULL}\n" + all + "tenant research\nrate 600/min\nbudget 10usd/day\nunpriced allow\nmcp demo\nmcp desktops\nmcp github\n}\n" +
			harness.Key("chat", "tenant research\nbudget 0.000001usd/day"),
		Options: "catalog DIR/prices.json\ntenant research {\nbudget 500usd/month\n}\nruntime_keys {\nscopes chat:write models:read\n}\n" +
			"mcp demo {\ndemo\n}\nmcp github {\ndemo\n}\nmcp desktops {\ndesktops\n}\n",
		Global: "admin unix/" + h.Dir + "/admin",
		VNC: "automation control\nregister_networks 10.0.0.0/16 10.20.0.0/16\nregister_ports 5900-5999\ncredential lab {\npassword {env.DESK_PASSWORD}\n}\ncredential vm {\nderive {env.DESK_PASSWORD}\n}\n" +
			"workstation desk1 {\ntest_card\ntenant research\n}\nworkstation demo {\ntest_card\ntenant research\n}",
	})
	r := &reader{dir: t.TempDir(), origin: h.Ports.Origin(), timeout: exampleTimeout}
	r.programs(t)
	r.env = append(os.Environ(), "PATH="+r.dir+"/bin:"+os.Getenv("PATH"), "HOME="+r.dir, "CURL_HOME="+r.dir,
		"GATEWAY_URL="+h.Ports.Origin(), "GATEWAY_API_KEY="+harness.Secret("full"))
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	story := h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
	story.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	if a := h.Client.Send(story); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	poor := h.Client.Request(harness.ChatV1, "chat", harness.Chat("fake/echo", ""))
	poor.Header.Set("Traceparent", "00-fc75252992ba5e726dd77d14ed3a675e-00f067aa0ba902b7-01")
	refused := h.Client.Send(poor)
	if refused.Status != 402 {
		t.Fatalf("%d %s", refused.Status, refused.Body)
	}
	made := h.Client.Want(201, http.MethodPost, "/api/v1/keys", "full", `{"name":"documented"}`)
	hash, _ := harness.At(harness.Parse(t, made.Body), "data", "hash").(string)
	r.values = strings.NewReplacer(
		"DATA_DIR", h.Dir+"/data",
		"./caddy ", "caddy ",
		"gh-…", harness.Secret("full"),
		"HEX_OF_ADA", strings.Repeat("5a", 32),
		"HEX_OF_BEN", strings.Repeat("5b", 32),
		"HASH", hash,
		"req_6b03327ff034e132ed1f1fdfe3808788", refused.Header.Get("X-Request-Id"),
		"d6dd56baede8ccf1e686f7a2728cdef8", trace,
		"/var/backups", r.dir,
	)
	return r
}

// programs puts in front of the PATH: caddy, which checks a configuration instead of running it; what
// adds a server of tools to a client, which asks the server for its tools; and viewers, which look at
// their address.
func (r *reader) programs(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.MkdirAll(filepath.Join(r.dir, "bin", "real"), 0o700)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(r.dir, ".gatehouse"), 0o700)
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(r.dir, "bin", "real", "caddy"))
	}
	if err != nil {
		t.Fatal(err)
	}
	const addServer = `#!/bin/sh -e
[ "$1 $2" = "mcp add" ] || exit 0
while [ $# -gt 0 ]; do
	case $1 in
	http*) url=$1 ;;
	--header) header=$2 ;;
	--bearer-token-env-var) eval "header=\"Authorization: Bearer \$$2\"" ;;
	esac
	shift
done
curl -H "$header" -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$url" | grep -q '"tools"'
`
	// It joins a desktop that the command desktop brings to this machine, without a password.
	const viewer = `#!/bin/sh -e
for address; do :; done
case $address in
127.0.0.1::*) exec python3 -c 'import socket, sys
c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
c.sendall(c.recv(12)) # the version
assert c.recv(2) == b"\1\1"
c.sendall(b"\1") # no login
assert c.recv(4) == bytes(4)
c.sendall(b"\1") # shared
assert len(c.recv(24)) == 24' "${address##*:}" ;;
?*.?*:[0-9]*) ;;
*) exit 1 ;;
esac
`
	for name, text := range map[string]string{
		"bin/caddy":      "#!/bin/sh\ncase $1 in run) shift; set -- validate \"$@\" ;; esac\nexec \"$0/../real/caddy\" \"$@\"\n",
		"bin/claude":     addServer,
		"bin/codex":      addServer,
		"bin/vncviewer":  viewer,
		".curlrc":        "fail-with-body\nsilent\nshow-error\n",
		".gatehouse/key": harness.Secret("full") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(strings.Replace(text, "$0/..", filepath.Join(r.dir, "bin"), 1)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
