//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	domain            = "vnc.localhost"
	workstation       = "desk1"
	x11vncWorkstation = "desk2"
	testCard          = "demo"

	keyEnv      = "VIEWERS_KEY"
	identityEnv = "VIEWERS_IDENTITY"
	passwordEnv = "VIEWERS_PASSWORD_" // and the desktop's name
)

// caddyfile takes the port of the HTTP site, that of the VNC addresses, the workstations, the value of
// vncauth, the port of the viewers, what a gateway of a cluster has more in the global options and
// in its own, and who reads recordings.
const caddyfile = `{
	admin off
	persist_config off
	skip_install_trust
	grace_period 3s
	%[6]s
	gatehouse {
		%[7]s
		key viewers {
			secret {env.` + keyEnv + `}
			scopes workstations:connect workstations:manage recordings:read
		}
		vnc {
			domain ` + domain + `
			port %[2]d
			vncauth %[4]s
%[8]s%[3]s		}
	}
	layer4 {
		127.0.0.1:%[5]d {
			route {
				vnc
			}
		}
	}
}

http://:%[1]d {
	bind 127.0.0.1
	gatehouse_health
	gatehouse
}
`

// recording records all sessions. It takes the public key of who reads them.
const recording = `			session {
				record on
			}
			record {
				recipient %s
				replay_identity {env.` + identityEnv + `}
			}
`

type gateway struct {
	*desktop.Program
	port    int // of the VNC addresses
	records bool
	origin  string // of the HTTP site
	ca      string // file of the root certificate
	key     string
}

// node is what a gateway of a cluster has more than one alone.
type node struct {
	port            int // of its viewers; 0: that of the addresses
	global, options string
	ca              string // file of the root certificate; "": where StartCaddy has it
	key             string // "": a new one
	core            bool   // the build has no recordings and no test card
}

// startGateway returns when the HTTP site and the VNC listener answer.
func startGateway(ctx context.Context, caddy, dir string, port int, desktops []*desktop.Desktop, vncAuth bool, n node) (*gateway, error) {
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	g := &gateway{
		port: cmp.Or(n.port, port), records: !n.core, origin: fmt.Sprintf("http://127.0.0.1:%d", ports[0]),
		ca: cmp.Or(n.ca, process.RootCA(dir)), key: cmp.Or(n.key, process.Secret()),
	}
	option := "off"
	if vncAuth {
		option = "on"
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	blocks, env := "", []string{keyEnv + "=" + g.key, identityEnv + "=" + identity.String()}
	for _, d := range desktops {
		variable := passwordEnv + d.Name
		blocks += fmt.Sprintf("\t\t\tworkstation %s 127.0.0.1:%d {\n\t\t\t\tpassword {env.%s}\n\t\t\t}\n", d.Name, d.Port, variable)
		env = append(env, variable+"="+d.Password)
	}
	record := ""
	if g.records {
		blocks += "\t\t\tworkstation " + testCard + " {\n\t\t\t\ttest_card\n\t\t\t}\n"
		record = fmt.Sprintf(recording, identity.Recipient())
	}
	text := fmt.Sprintf(caddyfile, ports[0], port, blocks, option, g.port, n.global, n.options, record)
	p, err := process.StartCaddy(ctx, caddy, dir, text, env, func() error { return g.ready(ctx) })
	g.Program = &desktop.Program{Process: p}
	return g, err
}

func (g *gateway) ready(ctx context.Context) error {
	if err := g.call(ctx, http.MethodGet, "/v1/workstations", "", http.StatusOK, nil); err != nil {
		return err
	}
	return g.hasCertificate()
}

// hasCertificate checks that the VNC listener shows its wildcard certificate, which comes some time
// after the start.
func (g *gateway) hasCertificate() error {
	pem, err := os.ReadFile(g.ca)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", g.port), &tls.Config{RootCAs: roots, ServerName: "nobody." + domain})
	if err != nil {
		return err
	}
	return conn.Close()
}

// address requests a VNC address: <token>.<domain>:<port>.
func (g *gateway) address(ctx context.Context, workstation string) (string, error) {
	var issued struct {
		Address string `json:"vnc_url"`
	}
	err := g.call(ctx, http.MethodPost, "/v1/workstations/"+workstation+"/vnc", "", http.StatusOK, &issued)
	return issued.Address, err
}

func (g *gateway) release(ctx context.Context, workstation string) error {
	return g.call(ctx, http.MethodDelete, "/v1/workstations/"+workstation, "", http.StatusNoContent, nil)
}

// restore takes back the release of a workstation that the Caddyfile declares.
func (g *gateway) restore(ctx context.Context, workstation string) error {
	return g.call(ctx, http.MethodPut, "/v1/workstations/"+workstation, "{}", http.StatusOK, nil)
}

func (g *gateway) call(ctx context.Context, method, path, body string, want int, into any) error {
	text, err := g.send(ctx, method, path, body, want)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// download returns the body of an answer.
func (g *gateway) download(ctx context.Context, path string) ([]byte, error) {
	return g.send(ctx, http.MethodGet, path, "", http.StatusOK)
}

func (g *gateway) send(ctx context.Context, method, path, body string, want int) ([]byte, error) {
	const (
		timeout   = 10 * time.Second
		maxAnswer = 64 << 20
	)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, g.origin+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+g.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return text, err
}
