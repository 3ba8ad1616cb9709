//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"
)

// secretOf is the secret of the nth key.
func (s secrets) secretOf(n int) string { return fmt.Sprintf("%s-%06d", s.gateway, n) }

func numberedModel(n int) string { return fmt.Sprintf("%s%05d", modelNumbered, n) }

// halfLimits is the number of limited tenants, and of limited models.
func (s size) halfLimits() int { return s.limits / 2 }

// call returns the key and the model of the nth call. Consecutive calls have different ones, far
// apart, and every second model is a limited one, whatever the size.
func (s size) call(n int) (key, model int) {
	const stride = 9973 // prime, and so without a common divisor with any size
	far, half := n*stride, s.halfLimits()
	if n%2 == 0 {
		return far % s.keys, far % half
	}
	return far % s.keys, half + far%(s.models-half)
}

// writeKeys writes the file of the keys.
func (s size) writeKeys(path string, of secrets) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	for i := range s.keys {
		fmt.Fprintf(w, `{"name":"user-%06d","hashes":["sha256:%x"],"scopes":["chat:write","models:read"],"tenant":"team-%d"}`+"\n",
			i, sha256.Sum256([]byte(of.secretOf(i))), i%s.halfLimits())
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("writing the keys: %w", err)
	}
	return file.Close()
}

// scaleCaddyfile is a gateway of that size, whose keys are in a file.
func scaleCaddyfile(s site, of size) string {
	var limits, models strings.Builder
	for i := range of.halfLimits() {
		fmt.Fprintf(&limits, "\t\ttenant team-%d {\n\t\t\trate 100M/min\n\t\t}\n", i)
		fmt.Fprintf(&limits, "\t\tmodel %s%s {\n\t\t\trate 100M/min\n\t\t}\n", providerPrefix, numberedModel(i))
	}
	for i := range of.models {
		fmt.Fprintf(&models, " %s", numberedModel(i))
	}
	return globalOptions(s, fmt.Sprintf(`	gatehouse {
		key_file %q
%s		provider up {
			base_url http://%s/v1
			api_key {env.%s}
			models%s
		}
	}
`, s.keys, limits.String(), s.upstream, upstreamKeyVar, models.String())) + fmt.Sprintf(`http://:%d {
	bind 127.0.0.1
	gatehouse
}
`, s.port)
}

// startScale starts a gateway of that size. took is the time from the start of the process to its
// first answer to a call.
func (f *fleet) startScale(ctx context.Context, which role, of size) (s *server, took time.Duration, err error) {
	s, cfg, env, err := f.newServer(which, f.upstream)
	if err != nil {
		return nil, 0, err
	}
	s.renames = true
	if err := of.writeKeys(cfg.keys, f.secrets); err != nil {
		return nil, 0, err
	}
	calls, err := scaleLoad(s, f.secrets, of, codePrompt)
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	if s.proc, err = f.runCaddy(string(which), s.dir, env, scaleCaddyfile(cfg, of)); err != nil {
		return nil, 0, err
	}
	err = s.proc.await(ctx, func() error {
		c := newConn(s.addr)
		defer c.close()
		_, err := calls[0].call(ctx, c, time.Now())
		return err
	})
	return s, time.Since(begun), err
}

// scaleLoad builds the calls of the case for one server.
func scaleLoad(s *server, of secrets, config size, prompt promptKind) ([]load, error) {
	calls := make([]load, scaleCalls)
	for n := range calls {
		key, number := config.call(n)
		model := providerPrefix + numberedModel(number)
		body, err := chatBody(model, false, kib, prompt)
		if err != nil {
			return nil, err
		}
		calls[n] = load{request: encode(s.addr, chatPath, of.secretOf(key), body), sent: len(body), check: checkWhole, model: s.model(model)}
	}
	return calls, nil
}
