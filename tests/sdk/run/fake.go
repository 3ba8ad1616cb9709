package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

var errNotListening = errors.New("no line that begins with listening on")

type fakeProvider struct {
	*process.Process
	origin string
}

// startFake waits for the line with the provider's address.
func startFake(ctx context.Context, path, log string) (*fakeProvider, error) {
	if path == "" {
		return nil, fmt.Errorf("no fake provider: -fake is empty")
	}
	cmd := exec.CommandContext(ctx, path, "-listen", "127.0.0.1:0")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout = w
	p, err := process.Start(cmd, log)
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting the fake provider: %w", err)
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	origin, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		p.ShowLog(os.Stderr)
		p.Stop()
		return nil, fmt.Errorf("the fake provider said %q: %w", line, cmp.Or(err, errNotListening))
	}
	return &fakeProvider{p, origin}, nil
}
