SHELL=/usr/local/bin/truthsh
* * * * * echo hello; sleep 3
* * * * * sleep 5
* * * * * sleep 100
* * * * * cat; sleep 1%line one%line two
* * * * * printf 'gr\303\274n \342\202\254\n'
* * * * * sleep 4; echo user
*/2 * * * * exit 3
