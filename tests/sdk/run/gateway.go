package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

type gateway struct {
	*process.Process
	http, https, ca string // https "": no such site
	newsTime        string // of a cluster
	keyed           string // site that adds the key
	source          int    // as configuration has it
	secrets         map[string]string
}

// newSecrets are the variables of the keys.
func newSecrets() map[string]string {
	return map[string]string{
		"SDK_CALLER_KEY": process.Secret(), "SDK_NARROW_KEY": process.Secret(), "SDK_READER_KEY": process.Secret(), "SDK_MANAGER_KEY": process.Secret(), "SDK_FAKE_KEY": process.Secret(),
		"SDK_DESK_KEY": process.Secret(), "SDK_SOURCE_SECRET": webhookSecret(), "SDK_SOURCE_OLD_SECRET": webhookSecret(),
	}
}

// webhookSecret is one of the Standard Webhooks specification.
func webhookSecret() string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text()))
}

// startGateway returns when the gateway answers on all its sites. Its files are in dir.
func startGateway(ctx context.Context, caddy, dir string, c configuration, secrets map[string]string) (*gateway, error) {
	g := &gateway{http: fmt.Sprintf("http://127.0.0.1:%d", c.http), ca: cmp.Or(c.ca, process.RootCA(dir)), secrets: secrets, source: c.source}
	if c.keyed != 0 {
		g.keyed = fmt.Sprintf("http://localhost:%d", c.keyed)
	}
	if c.https != 0 {
		g.https = fmt.Sprintf("https://localhost:%d", c.https)
	}
	var env []string
	for name, value := range g.secrets {
		env = append(env, name+"="+value)
	}
	var err error
	g.Process, err = process.StartCaddy(ctx, caddy, dir, c.text, env, func() error { return g.ready(ctx) })
	return g, err
}

// ready checks all sites: the certificate of the HTTPS site comes some time after the start.
func (g *gateway) ready(ctx context.Context) error {
	if err := g.answers(ctx); err != nil || g.https == "" {
		return err
	}
	return g.hasCertificate(ctx)
}

func (g *gateway) answers(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.http+"/v1/models", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+g.secrets["SDK_CALLER_KEY"])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /v1/models: %s", res.Status)
	}
	return nil
}

func (g *gateway) hasCertificate(ctx context.Context) error {
	client, err := clientTrusting(g.ca)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.https+"/v1/models", nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close() // without a key: any status will do
}

// environment is the environment of a suite.
func (g *gateway) environment(target string, https bool, fakeOrigin string) []string {
	origin := g.http
	if https {
		origin = g.https
	}
	return append(os.Environ(),
		"GATEWAY_ORIGIN="+origin,
		"GATEWAY_CA="+g.ca,
		"GATEWAY_TARGET="+target,
		"GATEWAY_API_KEY="+g.secrets["SDK_CALLER_KEY"],
		"GATEWAY_NARROW_KEY="+g.secrets["SDK_NARROW_KEY"],
		"GATEWAY_CONFORMANCE_ORIGIN="+g.keyed,
		"GATEWAY_ACTIVITY_KEY="+g.secrets["SDK_READER_KEY"],
		"GATEWAY_MANAGER_KEY="+g.secrets["SDK_MANAGER_KEY"],
		"GATEWAY_NEWS_TIME="+g.newsTime,
		"GATEWAY_DESK_KEY="+g.secrets["SDK_DESK_KEY"],
		"GATEWAY_SOURCE_PORT="+strconv.Itoa(g.source),
		"GATEWAY_SOURCE_SECRET="+g.secrets["SDK_SOURCE_SECRET"],
		"GATEWAY_SOURCE_OLD_SECRET="+g.secrets["SDK_SOURCE_OLD_SECRET"],
		"GATEWAY_UNCALLABLE_MODEL="+uncallable,
		"FAKE_ORIGIN="+fakeOrigin,
		"FAKE_API_KEY="+g.secrets["SDK_FAKE_KEY"],
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
}
