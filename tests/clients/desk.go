//go:build linux

package main

import (
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// desk is a real VNC server that shows a form, which clients fill in. A nil one is none.
type desk struct {
	server *desktop.Desktop
	form   *desktop.Form
}

func openDesk(dir string) (*desk, error) {
	server, err := desktop.StartXvnc(dir, "Xtigervnc", "desk1")
	if err != nil {
		return nil, err
	}
	form, err := desktop.OpenForm(server.Number)
	if err != nil {
		server.Stop()
		return nil, err
	}
	return &desk{server, form}, nil
}

func (d *desk) close() {
	d.form.Close()
	d.server.Stop()
}

func (d *desk) port() int {
	if d == nil {
		return 1
	}
	return d.server.Port
}

func (d *desk) password() string {
	if d == nil {
		return "none"
	}
	return d.server.Password
}

// filled checks that the form is filled in as all clients are told to.
func filled(is desktop.Contents) error {
	want := desktop.Contents{Name: "Ada Lovelace", Note: "first", Agreed: true, Sent: 1, Chosen: desktop.NoRow}
	if is != want {
		return fmt.Errorf("%+v, want %+v", is, want)
	}
	return nil
}
