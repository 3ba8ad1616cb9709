//go:build linux && !race

package clustertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// smallDisk returns a folder on a file system of its own, in memory, of so many megabytes.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-disk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size="+size); err != nil {
		t.Skipf("a file system in memory cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes what is free on the file system of a folder, and returns the file that has it.
func fill(dir string) (file string, err error) {
	f, err := os.CreateTemp(dir, "fill")
	if err != nil {
		return "", err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); len(block) > 0; block = block[:len(block)/2] {
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return "", errors.Join(err, io.ErrUnexpectedEOF)
	}
	return f.Name(), nil
}

// The disk of PostgreSQL is full for some seconds. Calls go on, and their rows arrive when there is
// space again, each once.
func TestLongTheDiskOfPostgresIsFull(t *testing.T) {
	disk, usual := smallDisk(t, "300m"), os.TempDir()
	t.Setenv("TMPDIR", disk)
	engines := clustertest.StartEngines(t)
	t.Setenv("TMPDIR", usual)
	p := startOn(t, 2, engines)
	hard, plain := p.load(4, p.paced("hard")), p.load(4, p.paced("plain"))
	p.wait(2 * time.Second)
	var filled []string
	full := time.Now()
	for time.Since(full) < 8*time.Second { // what the server frees meanwhile is taken too
		file, err := fill(disk)
		if err != nil {
			t.Fatal(err)
		}
		filled = append(filled, file)
		p.wait(200 * time.Millisecond)
	}
	troubled := 0
	for i := range p.Gateways {
		status, err := p.clusterStatus(i)
		if err != nil {
			t.Fatal(err)
		}
		if d := status.Database; d.Error != "" {
			troubled++
			t.Logf("%s: %+v", p.Gateways[i].Name, d)
		}
	}
	if troubled == 0 {
		t.Error("the database takes rows")
	}
	for _, file := range filled {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	freed := time.Now()
	if conn, err := net.Dial("tcp", p.Engines.Postgres.Addr); err == nil {
		conn.Close()
	} else if err := p.Engines.Postgres.Restart(); err != nil { // without space for its log it gives up
		t.Fatal(err)
	}
	p.wait(2 * time.Second)
	for key, l := range map[string]*load{"hard": hard, "plain": plain} {
		answers := l.stop()
		if !answers.only("200") || answers.slowest > time.Second {
			t.Errorf("key %s: %v", key, answers)
		}
		p.rowsWithin(2*waitLimit, key, answers.of("200"))
		t.Logf("the disk was full for %v, key %s: %v; all rows are there %v after there was space", freed.Sub(full).Round(time.Millisecond), key, answers,
			time.Since(freed).Round(10*time.Millisecond))
	}
	p.books("hard")
	for i := range p.Gateways {
		if status, err := p.clusterStatus(i); err != nil || status.Database.Dropped != 0 || status.Database.Refused != 0 {
			t.Errorf("%s: %+v, %v", p.Gateways[i].Name, status.Database, err)
		}
	}
}

// status is a part of what a gateway knows of its cluster.
type status struct {
	Database struct {
		Error                              string
		Waiting, Spooled, Dropped, Refused int
	}
}

// clusterStatus is what the operator's command says at gateway i.
func (p *proof) clusterStatus(i int) (s status, err error) {
	text, err := p.Gateways[i].Command("gatehouse", "cluster", "--json")
	if err != nil {
		return s, fmt.Errorf("%s: %w", text, err)
	}
	return s, json.Unmarshal([]byte(text), &s)
}
