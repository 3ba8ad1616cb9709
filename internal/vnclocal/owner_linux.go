package vnclocal

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ofSameUser reports whether the other end of a connection within this machine belongs to the user of
// this process. It reads the tables of the kernel's sockets, see proc_net_tcp.txt of its documentation.
func ofSameUser(conn *net.TCPConn) bool {
	theirs, ours := conn.RemoteAddr().(*net.TCPAddr).AddrPort(), conn.LocalAddr().(*net.TCPAddr).AddrPort()
	return owns("/proc/net/tcp", theirs, ours, os.Getuid()) || owns("/proc/net/tcp6", theirs, ours, os.Getuid())
}

// The columns of a table that are of interest.
const (
	columnLocal  = 1
	columnRemote = 2
	columnState  = 3
	columnUser   = 7

	established = "01"
)

// owns reports whether a table has an open socket between two addresses, and it is the user's.
func owns(table string, local, remote netip.AddrPort, user int) bool {
	f, err := os.Open(table)
	if err != nil {
		return false
	}
	defer f.Close()
	from, to := inTable(local), inTable(remote)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > columnUser && fields[columnState] == established &&
			slices.Contains(from, fields[columnLocal]) && slices.Contains(to, fields[columnRemote]) {
			return fields[columnUser] == strconv.Itoa(user)
		}
	}
	return false
}

// inTable is an address as the tables have it, of IPv4 and of IPv6.
func inTable(a netip.AddrPort) (texts []string) {
	port := fmt.Sprintf(":%04X", a.Port())
	if address := a.Addr().Unmap(); address.Is4() {
		short := address.As4()
		texts = append(texts, inWords(short[:])+port)
	}
	long := a.Addr().As16()
	return append(texts, inWords(long[:])+port)
}

// inWords is an address in words of four bytes, as the machine reads them.
func inWords(address []byte) (text string) {
	for word := range slices.Chunk(address, 4) {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(word))
	}
	return text
}
