// A server on Go's `net/http`, as its documentation has it: `go run server.go FILE`.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	file := os.Args[1]
	ready, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) { w.Write(ready) })
	http.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, nil))
}
