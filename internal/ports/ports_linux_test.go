package ports

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asListener makes the test binary listen until its standard input ends.
const asListener = "PORTS_TEST_CHILD"

func TestMain(m *testing.M) {
	address := os.Getenv(asListener)
	if address == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	fmt.Println(l.Addr())
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// other listens in a process of its own.
func other(t *testing.T, address string) (netip.AddrPort, *exec.Cmd) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), asListener+"="+address)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return netip.MustParseAddrPort(strings.TrimSpace(line)), child
}

func TestAnotherProcessThatListensIsFound(t *testing.T) {
	at, child := other(t, "127.0.0.1:0")
	for _, asked := range []string{"127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1"} {
		asked := netip.AddrPortFrom(netip.MustParseAddr(asked), at.Port())
		ours, found := Taken([]netip.AddrPort{asked})
		if found == nil || ours != asked || found.Address != at || found.PID != child.Process.Pid || found.User != os.Getuid() || found.Name != filepath.Base(os.Args[0])[:min(15, len(filepath.Base(os.Args[0])))] {
			t.Errorf("%s: %s, %+v", asked, ours, found)
		}
	}
	for _, free := range []string{"127.0.0.2", "::1"} {
		if _, found := Taken([]netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(free), at.Port())}); found != nil {
			t.Errorf("%s: %v", free, found)
		}
	}
}

func TestThisProcessDoesNotTakeItsOwnPorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	at := netip.MustParseAddrPort(l.Addr().String())
	if _, found := Taken([]netip.AddrPort{at}); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestWhatCannotBeSeenOfAProcessIsNotNamed(t *testing.T) {
	for want, o := range map[string]Other{"caddy (process 7)": {User: 1, PID: 7, Name: "caddy"}, "another process, of the user 998": {User: 998}} {
		if got := o.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTablesOfTheKernelAreRead(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 4711 1 0000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000   998        0 4712 1 0000 100 0 0 10 0
   2: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4713 1
   3: xx:0016 00000000:0000 0A 0 0 0 0 0 4714
cut
`
	var got []string
	for _, l := range listeners(strings.NewReader(table)) {
		got = append(got, fmt.Sprintf("%s %d %s", l.address, l.user, l.inode))
	}
	if want := "127.0.0.1:8080 998 4711, [::1]:22 0 4713"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
