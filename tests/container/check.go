//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const secret = "gh-container-0123456789abcdef0123456789"

// secretHash is its SHA-256: a secret in the configuration would be a warning of the check.
var secretHash = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(secret)))

// caddyfile is what a user brings: the ports of the image, and a certificate of Caddy's own
// authority, which is in the volume.
var caddyfile = `{
	http_port 8080
	https_port 8443
	skip_install_trust
	grace_period 20s
	servers {
		listener_wrappers {
			gatehouse
			tls
			gatehouse
		}
	}
	gatehouse {
		key ops {
			hash ` + secretHash + `
			scopes chat:write models:read activity:read
		}
		provider test {
			dialect test
			models *
		}
	}
}

localhost {
	tls internal
	gatehouse_health
	gatehouse
}
`

// running is the container that serves.
type running struct {
	*podman
	at     string // its origin
	client *http.Client
}

// check builds the image and uses it. Each step needs the one before.
func check(ctx context.Context, p *podman, file containerfile, r *process.Result) {
	for _, beginning := range []string{"mkdir ", "cp ", "podman build "} {
		command, err := file.command(beginning)
		if err == nil {
			_, err = p.shell(ctx, command)
		}
		if !r.Check(beginning+"of the Containerfile", err) {
			return
		}
	}
	r.Check("the image has the CA certificates of this machine", sameCertificates(ctx, p))
	r.Check("the program in the image knows its version and commit", knowsItsCommit(ctx, p))
	r.Check("a configuration is checked in a container", checksConfiguration(ctx, p, file))

	c, err := start(ctx, p, file)
	if !r.Check("the container serves a request by TLS, with a certificate from its volume", err) {
		return
	}
	r.Check("the program does not run as root", c.unprivileged(ctx))
	command, err := file.command("podman exec ", "CONTAINER", "gatehouse")
	if err == nil {
		_, err = p.shell(ctx, command)
	}
	r.Check("the health check succeeds", err)
	id, err := c.chat(ctx)
	r.Check("a model answers", err)
	r.Check("it ends in order within its time", c.stop(ctx))
	if c, err = start(ctx, p, file); r.Check("another container starts with the same volume", err) {
		r.Check("the call is still in its activity", c.hasCall(ctx, id))
	}
}

func sameCertificates(ctx context.Context, p *podman) error {
	const file = "/etc/ssl/certs/ca-certificates.crt"
	_, err := p.shell(ctx, "podman create --name look gatehouse && podman cp look:"+file+" ca && podman rm look")
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(p.dir, "ca"))
	want, err2 := os.ReadFile(file)
	if err = errors.Join(err, err2); err == nil && (!bytes.Equal(got, want) || !x509.NewCertPool().AppendCertsFromPEM(got)) {
		err = fmt.Errorf("%d bytes, not the %d here", len(got), len(want))
	}
	return err
}

// knowsItsCommit compares with the checkout, which is where this program runs.
func knowsItsCommit(ctx context.Context, p *podman) error {
	out, err := p.shell(ctx, "podman run --rm gatehouse gatehouse version --json")
	if err != nil {
		return err
	}
	var said struct{ Version, Commit string }
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	release, err := os.ReadFile("internal/version/VERSION")
	if err != nil {
		return err
	}
	commit := "unknown"
	if head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output(); err == nil {
		commit = string(head[:12])
	}
	if said.Version != "v"+strings.TrimSpace(string(release)) || strings.TrimSuffix(said.Commit, "-dirty") != commit {
		return fmt.Errorf("%s, want %s of %s", out, release, commit)
	}
	return nil
}

// checksConfiguration wants nothing but the warning of the test provider, with which the check ends
// with 1.
func checksConfiguration(ctx context.Context, p *podman, file containerfile) error {
	command, err := file.command("podman run --rm ")
	if err != nil {
		return err
	}
	out, err := p.shell(ctx, command+" || test $? = 1")
	if err == nil && (!strings.Contains(out, "provider test") || !strings.HasSuffix(out, "0 errors, 1 warning, 0 notes")) {
		err = errors.New(out)
	}
	return err
}

// start runs the container and waits until it is ready.
func start(ctx context.Context, p *podman, file containerfile) (*running, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	command, err := file.command("podman run --publish ",
		"podman run ", "podman run --detach --rm --name gatehouse ", "443:8443", fmt.Sprintf("127.0.0.1:%d:8443", ports[0]))
	if err != nil {
		return nil, err
	}
	if _, err := p.shell(ctx, command); err != nil {
		return nil, err
	}
	volume, err := p.shell(ctx, "podman volume inspect --format '{{.Mountpoint}}' gatehouse")
	if err != nil {
		return nil, err
	}
	c := &running{podman: p, at: fmt.Sprintf("https://localhost:%d", ports[0])}
	err = process.Eventually(ctx, 30*time.Second, func() error {
		root, err := os.ReadFile(filepath.Join(volume, "caddy/pki/authorities/local/root.crt"))
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(root)
		c.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
		_, err = c.request(ctx, "GET", "/readyz", "")
		return err
	})
	if err != nil {
		log, _ := p.shell(ctx, "podman logs gatehouse")
		err = fmt.Errorf("%w\n%s", err, log)
	}
	return c, err
}

// request sends a request with the key and returns the answer if it has the status 200.
func (c *running) request(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.at+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, resp.StatusCode, answer)
	}
	return answer, err
}

// chat calls a model and returns the id of its row.
func (c *running) chat(ctx context.Context) (string, error) {
	answer, err := c.request(ctx, "POST", "/api/v1/chat/completions", `{"model":"test/echo","messages":[{"role":"user","content":"hello"}]}`)
	if err != nil {
		return "", err
	}
	var chat struct {
		ID      string
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(answer, &chat); err != nil || chat.ID == "" || len(chat.Choices) != 1 || !strings.Contains(chat.Choices[0].Message.Content, "hello") {
		return "", fmt.Errorf("the answer is %s, %w", answer, err)
	}
	return chat.ID, nil
}

func (c *running) hasCall(ctx context.Context, id string) error {
	_, err := c.request(ctx, "GET", "/api/v1/generation?id="+id, "")
	return err
}

// unprivileged checks the user of the process as the kernel has it.
func (c *running) unprivileged(ctx context.Context) error {
	pid, err := c.shell(ctx, "podman inspect --format '{{.State.Pid}}' gatehouse")
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err == nil && !bytes.Contains(status, []byte("\nUid:\t65532\t65532\t65532\t65532\n")) {
		err = fmt.Errorf("its process is\n%s", status)
	}
	return err
}

// stop stops the container and checks that it was not killed: podman kills after the stop timeout.
func (c *running) stop(ctx context.Context) error {
	wait := make(chan error, 1)
	go func() {
		code, err := c.shell(ctx, "podman wait gatehouse")
		if err == nil && code != "0" {
			err = fmt.Errorf("it ended with %s", code)
		}
		wait <- err
	}()
	_, err := c.shell(ctx, "podman stop gatehouse")
	return errors.Join(err, <-wait)
}
