package vnclocal

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
)

// The tables are of two x86 machines, with a socket of user 1000, one of root and one that is closing.
func TestASocketBelongsToItsUser(t *testing.T) {
	if inWords([]byte{127, 0, 0, 1}) != "0100007F" {
		t.Skip("the tables of this test are of machines with another order of bytes")
	}
	dir := t.TempDir()
	short, long := filepath.Join(dir, "tcp"), filepath.Join(dir, "tcp6")
	for name, text := range map[string]string{
		short: `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:170D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:170D 01 00000000:00000000 00:00000000 00000000  1000        0 42 1 0 20 4 30 10 -1
   2: 0100007F:C351 0100007F:170D 01 00000000:00000000 00:00000000 00000000     0        0 43 1 0 20 4 30 10 -1
   3: 0100007F:C352 0100007F:170D 06 00000000:00000000 03:00000f12 00000000  1000        0 0 3 0
   4: short
`,
		long: `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000100007F:C353 0000000000000000FFFF00000100007F:170D 01 00000000:00000000 00:00000000 00000000  1000        0 44 1 0 20 4 30 10 -1
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := netip.MustParseAddrPort("127.0.0.1:5901")
	for _, c := range []struct {
		table, from string
		user        int
		want        bool
	}{
		{short, "127.0.0.1:50000", 1000, true},
		{short, "127.0.0.1:50000", 1001, false},
		{short, "127.0.0.1:50001", 1000, false}, // of root
		{short, "127.0.0.1:50002", 1000, false}, // closing
		{short, "127.0.0.1:50003", 1000, false}, // in the other table
		{long, "127.0.0.1:50003", 1000, true},
		{long, "127.0.0.1:50000", 1000, false},
		{filepath.Join(dir, "none"), "127.0.0.1:50000", 1000, false},
	} {
		if got := owns(c.table, netip.MustParseAddrPort(c.from), to, c.user); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestASocketOfThisProcessIsOfTheSameUser(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	viewer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !ofSameUser(conn.(*net.TCPConn)) {
		t.Error("it is not found")
	}
}
