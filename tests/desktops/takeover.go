//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

const (
	// takeovers is how often a person takes the input from an agent, within takeoverTimeout.
	takeovers       = 20
	takeoverTimeout = 20 * time.Second
	keyOfPerson     = 'p'
)

// takesOver checks that what an agent holds down is up before the first key of a person, who has another
// connection to the server. The desktop changes all the time, so that the server is busy.
func takesOver(a *agent, ctx context.Context) {
	if a.desk.form == nil {
		return
	}
	person, err := connect(ctx, a.api)
	if !a.Must("a person connects", err) {
		return
	}
	defer person.Close()
	moving, stop := context.WithCancel(ctx)
	still := make(chan error, 1)
	go func() { still <- a.animate(moving) }()
	n, begun := 0, time.Now()
	for ; err == nil && n < takeovers && time.Since(begun) < takeoverTimeout; n++ {
		err = takeOver(ctx, a, person)
	}
	stop()
	a.Check(fmt.Sprintf("what an agent holds is up before the first key of a person, %d times", n), errors.Join(err, <-still, a.free(ctx)))
}

// takeOver has an agent hold keys, and a person press one.
func takeOver(ctx context.Context, a *agent, person net.Conn) error {
	if err := a.desk.form.Clear(); err != nil {
		return err
	}
	const press, release = "\x04\x01\x00\x00\x00\x00\x00", "\x04\x00\x00\x00\x00\x00\x00"
	failure, err := a.holds(ctx, func() error {
		_, err := io.WriteString(person, press+string(keyOfPerson)+release+string(keyOfPerson))
		return err
	})
	var no *refused
	if !errors.As(failure, &no) || no.status != http.StatusConflict {
		return fmt.Errorf("the agent's call ends with %w", errors.Join(failure, err))
	}
	if err == nil {
		err = arrives(ctx, func() error { return upBefore(a.desk.form.Log()) })
	}
	return errors.Join(err, a.api.call(ctx, http.MethodPost, a.api.path("control"), a.api.person, []byte(`{"action":"return"}`), nil))
}

// upBefore checks that Control and Shift have come up before the key of the person goes down.
func upBefore(log []desktop.Input) error {
	const shift, control = 0xffe1, 0xffe3
	up := map[uint32]bool{}
	for _, in := range log {
		switch {
		case in.Up && in.Symbol != 0:
			up[in.Symbol] = true
		case in.Down && in.Symbol|0x20 == keyOfPerson:
			if up[shift] && up[control] {
				return nil
			}
			return fmt.Errorf("keys of the agent were down when the person's came: %+v", log)
		}
	}
	return fmt.Errorf("the person's key has not come: %+v", log)
}

// connect is a person's viewer of the workstation.
func connect(ctx context.Context, c *caller) (net.Conn, error) {
	var address struct {
		URL string `json:"vnc_url"`
	}
	if err := c.call(ctx, http.MethodPost, c.path("vnc"), c.person, []byte(`{"shared":true}`), &address); err != nil {
		return nil, err
	}
	token, _, _ := strings.Cut(address.URL, ".")
	ws, _, err := websocket.Dial(ctx, c.origin+c.path("socket"), &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + c.person}}, Subprotocols: []string{"gatehouse.vnc.1"},
	})
	if err != nil {
		return nil, err
	}
	conn := websocket.NetConn(ctx, ws, websocket.MessageBinary)
	if _, err = io.WriteString(conn, token); err == nil {
		_, err = rfb.Connect(conn, rfb.Login{}, seenTimeout)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
	return conn, nil
}
