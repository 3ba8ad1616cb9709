//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// crowd is how many desktops are open at once; mostSessions is the gateway's bound, of which one key
	// has 26: the desktops of the other checks share them.
	crowd, mostSessions = 20, 34
	// memoryBound is the gateway's bound of pictures, in MiB.
	memoryBound = 128
)

// names are those of the workstations that all are the one desktop.
func (s *server) names() (all []string) {
	for i := range mostSessions + 1 {
		all = append(all, fmt.Sprintf("%s-%d", s.name, i+1))
	}
	return all
}

// many opens desktops at one server until the gateway has enough, and measures its memory.
func (o options) many(ctx context.Context, g *gateway, s *server) *process.Result {
	began := time.Now()
	r := process.NewResult("desktop many")
	defer func() { r.Took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	before, err := g.resident()
	if !r.Must("the memory of the gateway can be read", err) {
		return r
	}
	names := s.names()
	for _, name := range names[:crowd] {
		if err = g.look(ctx, name); err != nil {
			break
		}
	}
	r.Check(fmt.Sprintf("%d desktops are open at once", crowd), err)
	after, err := g.resident()
	fmt.Printf("%d desktops: %d MiB resident, %d more than before\n", crowd, after>>20, (after-before)>>20)
	if grown := (after - before) >> 20; err == nil && grown > memoryBound {
		err = fmt.Errorf("the gateway has grown by %d MiB to %d", grown, after>>20)
	}
	r.Check("they stay within the bound of memory", err)

	opened := crowd
	for _, name := range names[crowd:] {
		if err = g.look(ctx, name); err != nil {
			break
		}
		opened++
	}
	var no *refused
	if !errors.As(err, &no) || no.status != http.StatusTooManyRequests || !strings.Contains(no.text, "automation_busy") {
		err = fmt.Errorf("after %d desktops: %w", opened, err)
	} else {
		err = nil
	}
	r.Check("one more than the gateway may have is refused", err)
	return r
}

// look opens a desktop.
func (g *gateway) look(ctx context.Context, workstation string) error {
	_, _, err := g.ask(ctx, http.MethodGet, "/v1/workstations/"+workstation+"/screenshot", g.agent, nil, nil)
	return err
}

// resident is the memory of the gateway's process, in bytes.
func (g *gateway) resident() (bytes int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", g.PID()))
	if err != nil {
		return 0, err
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0, err
	}
	return pages * int64(os.Getpagesize()), nil
}
