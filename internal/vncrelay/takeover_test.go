package vncrelay

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// line is the connection of a person to a workstation that notes keys: one is there when it was written.
type line struct {
	net.Conn
	server *desktoptest.Server
	wrote  chan struct{}
}

func (l *line) Write(p []byte) (int, error) {
	for message := range slices.Chunk(p, 8) { // of KeyEvents only
		l.server.Gets(desktoptest.Person, message[7], message[1] != 0)
		l.wrote <- struct{}{}
	}
	return len(p), nil
}

// A person presses keys while two agents do; what arrives at the workstation is in order, whoever comes when.
func TestNoEventOfAnAgentComesAfterAPersonsFirst(t *testing.T) {
	const rounds = 150
	g := vncrelaytest.New(t, options{Policy: desktop.Policy{OnConflict: desktop.Share, MaxTokens: 10_000}})
	s := new(desktoptest.Server)
	seed := rand.Uint64()
	t.Log("seed", seed)
	stop := make(chan struct{})
	var agents sync.WaitGroup
	var sent, refused [2]int
	for i := range 2 {
		name := fmt.Sprint("agent", i)
		by := vncrelaytest.Issuer
		by.Key, by.Agent = name, true
		x := desktoptest.MustJoin(t, g.Service, desktoptest.Issue(t, g.Service, by, "one", desktop.Options{Shared: true}), desktoptest.Other)
		defer x.Leave()
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		agents.Go(func() { sent[i], refused[i] = s.RunAgent(x, name, random, stop) })
	}
	random := rand.New(rand.NewPCG(seed, 2))
	wrote := make(chan struct{})
	var person net.Conn // nil: the person has left
	var leave func()
	for range rounds {
		if person == nil {
			ours, theirs := net.Pipe()
			backend, silent := net.Pipe()
			r := relayTo(g, &viewer{Conn: ours}, &line{backend, s, wrote})
			done := make(chan struct{})
			go func() { defer close(done); r.Run() }()
			person, leave = theirs, func() { _, _ = theirs.Close(), silent.Close(); <-done }
		}
		for range 1 + random.IntN(3) {
			key := byte('p' + random.IntN(3))
			for _, down := range []byte{1, 0} {
				if _, err := person.Write([]byte{4, down, 0, 0, 0, 0, 0, key}); err != nil {
					t.Fatal(err)
				}
				<-wrote
			}
		}
		s.GivenBack()
		if random.IntN(3) == 0 {
			leave()
			person = nil
		} else if _, err := g.Service.Input.Return(vncrelaytest.Issuer, "one", false); err != nil {
			t.Fatal(err)
		}
		for begun := s.Events(); s.Events() == begun && random.IntN(4) > 0; { // an agent goes on, as a rule
			runtime.Gosched()
		}
	}
	close(stop)
	agents.Wait()
	s.Want(t, false)
	if sent[0]+sent[1] < rounds || refused[0]+refused[1] < rounds {
		t.Errorf("%v sent and %v refused: nothing was interleaved", sent, refused)
	}
	if person != nil {
		leave()
	}
}
