package ports

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listener is a listening socket of this machine, or of this container.
type listener struct {
	address netip.AddrPort
	user    int
	inode   string
}

// Taken returns a listener of another process at one of the addresses, or at one on which this process
// listens already; nil if there is none, or if /proc does not show it. It returns the address of this
// process too.
func Taken(addresses []netip.AddrPort) (ours netip.AddrPort, other *Other) {
	mine, others := map[string]bool{}, []listener{}
	for _, inode := range sockets("/proc/self") {
		mine[inode] = true
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		for _, l := range listeners(file) {
			if mine[l.inode] {
				addresses = append(addresses, l.address)
			} else {
				others = append(others, l)
			}
		}
		_ = file.Close() // it was read only
	}
	for _, l := range others {
		if i := slices.IndexFunc(addresses, func(a netip.AddrPort) bool { return overlap(a, l.address) }); i >= 0 {
			pid, name := owner(l.inode)
			return addresses[i], &Other{Address: l.address, User: l.user, PID: pid, Name: name}
		}
	}
	return netip.AddrPort{}, nil
}

// The columns of /proc/net/tcp, and its state of a listener.
const (
	columnAddress = 1
	columnState   = 3
	columnUser    = 7
	columnInode   = 9
	stateListen   = "0A"
)

// listeners reads the listening sockets of a table of the kernel.
func listeners(table io.Reader) (all []listener) {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= columnInode || fields[columnState] != stateListen {
			continue
		}
		address, ok := parseAddress(fields[columnAddress])
		user, err := strconv.Atoi(fields[columnUser])
		if ok && err == nil {
			all = append(all, listener{address, user, fields[columnInode]})
		}
	}
	return all
}

// parseAddress reads an address of the kernel: each four bytes as a number of this machine.
func parseAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	bytes, err := hex.DecodeString(host)
	number, failed := strconv.ParseUint(port, 16, 16)
	if err != nil || failed != nil || len(bytes)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(bytes); i += 4 {
		binary.NativeEndian.PutUint32(bytes[i:], binary.BigEndian.Uint32(bytes[i:]))
	}
	ip, ok := netip.AddrFromSlice(bytes)
	return netip.AddrPortFrom(ip, uint16(number)), ok
}

// sockets returns the inodes of the sockets that a process has open, as far as they can be seen.
func sockets(process string) (inodes []string) {
	files, _ := filepath.Glob(process + "/fd/*")
	for _, file := range files {
		target, _ := os.Readlink(file)
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// owner returns a process that has a socket, 0 if none can be seen.
func owner(inode string) (pid int, name string) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		if slices.Contains(sockets(process), inode) {
			text, _ := os.ReadFile(process + "/comm")
			pid, _ = strconv.Atoi(filepath.Base(process))
			return pid, strings.TrimSpace(string(text))
		}
	}
	return 0, ""
}
