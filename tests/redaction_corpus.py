"""Forms in which secrets stand in crontabs and logs; each holds CANARY where the secret is."""

CANARY = "hunTer2x9"

_URLS = """
curl https://bob:CANARY@example.com/cron
wget -q -O - http://bob:CANARY@example.com:8080/a/b?c=d
mysql://root:CANARY@db.example.com/shop
postgresql://app:CANARY@10.0.0.5:5432/shop?sslmode=require
psql 'postgresql://app:CANARY@db/shop' -c 'select 1'
psql "postgres://app:CANARY@db/shop" -c "vacuum"
mongodump --uri mongodb+srv://u:CANARY@cluster0.example.net/db
redis-cli -u redis://:CANARY@cache:6379/0 ping
amqp://guest:CANARY@mq//vhost
ftp://user:CANARY@ftp.example.com/pub
sftp://user:CANARY@host/path
smtp://mailer:CANARY@smtp.example.com:587
git clone https://CANARY@github.com/acme/shop.git
git pull https://oauth2:CANARY@gitlab.example.com/acme/shop.git
git push https://CANARY:x-oauth-basic@github.com/acme/shop.git
curl https://CANARY:@api.stripe.example/v1/charges
svn up svn+ssh://dev:CANARY@svn.example.com/trunk
mysql://root:p@CANARY@db/shop
mysql://root:a/CANARY@db/shop
mysql://root:a:CANARY@db/shop
postgresql://app:p%40CANARY@db/shop
sentry-cli --url https://CANARY@o1.ingest.sentry.io/2
DATABASE_URL=mysql://root:CANARY@db/shop php artisan queue
SQLALCHEMY_DATABASE_URI="postgresql+psycopg://u:CANARY@h/d" ./run
curl "https://example.com/cron.php?token=CANARY"
curl https://example.com/cron.php?cron_key=CANARY
wget -qO- 'https://example.com/job?a=1&api_key=CANARY&b=2'
wget "https://example.com/job?apikey=CANARY"
wget -O - -q -t 1 https://example.com/cron/CANARYoGTlTCpLNIUS3DLMYBgGfZwvTG2qB5SB2WTyKCi-sDA0nI5KM0hAjE
curl "https://example.com/?sig=CANARY"
curl "https://example.com/?signature=CANARY"
curl "https://example.com/?secret=CANARY"
curl "https://example.com/?password=CANARY"
curl "https://example.com/?pwd=CANARY&x=y"
curl "https://example.com/?auth=CANARY"
curl "https://example.com/?access_token=CANARY"
curl https://example.com/#access_token=CANARY
lynx -dump https://shop.example/cron?secureKey=CANARY
rclone copy :ftp,host=h,user=u,pass=CANARY: /x
http --auth=bob:CANARY GET https://example.com
rsync rsync://u:CANARY@h/m /dst
"""

_OPTIONS = """
mysql -pCANARY shop
mysql -u root -pCANARY shop
mysqldump -uroot -p'CANARY' shop > /b.sql
mysqldump -uroot -p"CANARY x" shop | gzip
/usr/bin/mysqldump --user=root --password=CANARY shop
mysqldump --password='CANARY' --all-databases
mysqldump --password="a CANARY" --all-databases
mariadb -pCANARY -e 'select 1'
mariadb-dump -pCANARY shop
mysqladmin -u root -pCANARY ping
mysqlcheck -pCANARY -A
mysqlimport -pCANARY shop f
mysqlshow -pCANARY
innobackupex --password=CANARY /b
xtrabackup --backup --password=CANARY
mydumper -u root -p CANARY -o /b
mysqlsh -pCANARY --sql
docker exec db mysqldump -uroot -pCANARY shop
sudo -u www-data mysql -pCANARY shop
timeout 5m nice -n 10 mysql -pCANARY shop
flock -n /run/l mysqldump -pCANARY shop
sh -c "mysqldump -pCANARY shop | gzip > /b"
ssh db1 'mysqldump -pCANARY shop' > /b
bash -c 'cd /x && sh -c "mysql -pCANARY a b"'
30 2 * * * root mysqldump -pCANARY shop | gzip > /backup/shop-$(date +\\%F).sql.gz
curl -u bob:CANARY https://example.com
curl -ubob:CANARY https://example.com
curl -sSfu bob:CANARY https://example.com
curl --user bob:CANARY https://example.com
curl --user=bob:CANARY https://example.com
curl -u 'bob:CANARY x' https://example.com
curl --proxy-user p:CANARY https://example.com
curl -U p:CANARY https://example.com
curl -H 'Authorization: Bearer CANARY' https://example.com
curl -H "Authorization: Basic CANARY" https://example.com
curl -H "Authorization: CANARY" https://example.com
curl -H Authorization:CANARY https://example.com
curl -H 'X-Api-Key: CANARY' https://example.com
curl -H "X-Auth-Token: CANARY" https://example.com
curl -H 'PRIVATE-TOKEN: CANARY' https://gitlab.example.com
curl --header 'X-Vault-Token: CANARY' https://vault
curl --header "api-key:CANARY" https://x
curl --oauth2-bearer CANARY https://example.com
curl -b 'session=CANARY' https://example.com
curl --cookie "sid=CANARY" https://example.com
curl -H 'Cookie: PHPSESSID=CANARY' https://example.com
curl -d 'password=CANARY&user=bob' https://example.com
curl -d '{"password": "CANARY"}' https://example.com
curl -d '{"api_key":"CANARY"}' https://example.com
curl --data-raw "{\\"token\\": \\"CANARY\\"}" https://example.com
curl -F token=CANARY https://example.com
curl --cert c.pem:CANARY https://example.com
curl --pass CANARY --key k.pem https://example.com
wget --http-password=CANARY https://example.com
wget --http-user=b --http-password CANARY https://example.com
wget --password=CANARY ftp://example.com
wget --ftp-password=CANARY ftp://example.com
wget --header='Authorization: Token CANARY' https://example.com
wget --header="X-Api-Key: CANARY" https://example.com
sshpass -p CANARY ssh bob@h
sshpass -pCANARY scp f bob@h:
sshpass -p 'CANARY y' rsync -a x h:
redis-cli -a CANARY ping
redis-cli -h cache -aCANARY flushdb
redis-cli --pass CANARY ping
redis-cli CONFIG SET requirepass CANARY
mongodump -u root -p CANARY --out /b
mongo --username a --password CANARY admin
mongosh -pCANARY
mongoexport --password=CANARY -d x
ldapsearch -x -D cn=admin -w CANARY -b dc=x
ldapmodify -wCANARY -f f
smbclient //srv/share -U bob%CANARY -c ls
smbclient //srv/share --user=bob%CANARY
mount -t cifs //srv/s /mnt -o username=bob,password=CANARY
mount -t cifs //srv/s /mnt -o user=bob,pass=CANARY,uid=3
openssl enc -aes-256-cbc -k CANARY -in a
openssl enc -aes-256-cbc -pass pass:CANARY -in a
openssl rsa -passin pass:CANARY -in k
openssl pkcs12 -export -passout pass:CANARY
7z a -pCANARY x.7z /data
7za a -p'CANARY' x.7z /data
zip -P CANARY x.zip f
unzip -P CANARY x.zip
zip -PCANARY x.zip f
rar a -hpCANARY x.rar f
gpg --batch --passphrase CANARY -d f.gpg
gpg --passphrase=CANARY -c f
docker login -u bob -p CANARY registry.example.com
docker login --username bob --password CANARY
podman login -pCANARY quay.io
skopeo login -u a -p CANARY r
az login -u a -p CANARY
helm registry login -u a --password CANARY r
lftp -u bob,CANARY -e 'mirror' ftp.example.com
lftp -e 'open -u bob,CANARY h'
ncftpput -u bob -p CANARY h / f
sqlcmd -S s -U sa -P CANARY -Q x
bcp t out f -U sa -PCANARY
sqlplus -S scott/CANARY@orcl @job.sql
expdp system/CANARY full=y
rman target sys/CANARY@prod
ipmitool -H h -U admin -P CANARY power status
snmpwalk -v3 -u u -A CANARY -X other h
mosquitto_pub -u u -P CANARY -t t -m x
htpasswd -b /etc/f bob CANARY
swaks --auth-user a --auth-password CANARY
swaks -ap CANARY
sendemail -xu a -xp CANARY
xfreerdp /u:a /p:CANARY /v:h
cqlsh -u a -p CANARY h
rabbitmqadmin -u a -p CANARY list queues
influx -username a -password CANARY
keytool -storepass CANARY -list
terraform apply -var db_password=CANARY
helm upgrade x --set auth.password=CANARY
kubectl --token=CANARY get pods
vault login token=CANARY
aws configure set aws_secret_access_key=CANARY
s3cmd --access_key=a --secret_key=CANARY sync
duplicity --passphrase CANARY /x
restic --password CANARY backup
restic --password-command "echo CANARY" backup /
restic --password-command='/bin/echo -n CANARY' backup /
restic --password-command "printf '%s' CANARY" backup /
wp user update 1 --user_pass=CANARY
php job.php --api-key CANARY
php job.php --apikey=CANARY
php job.php --token CANARY
php job.php --token=CANARY
php job.php --secret CANARY
php job.php --client-secret=CANARY
php job.php --passwd CANARY
php job.php --pass=CANARY
php job.php --db-password CANARY
php job.php --dbPassword=CANARY
java -Djavax.net.ssl.keyStorePassword=CANARY -jar j.jar
java -Ddb.password=CANARY -jar j.jar
python job.py --access-key CANARY
python job.py password=CANARY
rclone --sftp-pass CANARY sync
borgmatic --override encryption_passphrase=CANARY
net use -U bob%CANARY
svn up --username a --password CANARY
"""

_VARIABLES = """
PASSWORD=CANARY
PASS=CANARY
PASSWD='CANARY'
DB_PASSWORD="CANARY x"
DB_PASS=CANARY
DB_PWD = CANARY
MYSQL_PWD=CANARY
MYSQL_PWD=CANARY mysqldump shop
PGPASSWORD=CANARY pg_dump shop
PGPASSWORD='CANARY' psql -c x
export PGPASSWORD=CANARY; pg_dump shop
export PGPASSWORD="CANARY" && pg_dump shop
env RESTIC_PASSWORD=CANARY restic backup /
RESTIC_PASSWORD=CANARY
BORG_PASSPHRASE=CANARY borg create
BORG_PASSCOMMAND="echo CANARY" borg create
RESTIC_PASSWORD_COMMAND='printf %s CANARY' restic backup /
BORG_PASSCOMMAND=echo CANARY
BORG_PASSPHRASE='CANARY with blanks'
AWS_SECRET_ACCESS_KEY=CANARY
AWS_SESSION_TOKEN=CANARY aws s3 sync
SECRET_KEY=CANARY
APP_SECRET=CANARY
APP_KEY=base64:CANARYCANARYCANARY=
API_KEY=CANARY
APIKEY=CANARY
STRIPE_SECRET=CANARY
GITHUB_TOKEN=CANARY gh release
SLACK_TOKEN=CANARY
AUTH_TOKEN=CANARY
SMTP_AUTH_KEY=CANARY
LDAP_BIND_CREDENTIALS=CANARY
CREDS=bob:CANARY
SENTRY_DSN=https://CANARY@sentry.io/1
MAILER_DSN=smtp://u:CANARY@h
MY_DSN=CANARY
REDIS_AUTH=CANARY1234567
ENCRYPTION_KEY=CANARY
docker run -e MYSQL_ROOT_PASSWORD=CANARY mysql
docker run --env POSTGRES_PASSWORD=CANARY postgres
*/5 * * * * PASSWORD=CANARY /usr/bin/job
sudo PASSWORD=CANARY job
PASSWORD=${PASSWORD:-CANARY} job
psql "host=db user=app password=CANARY dbname=shop"
psql "host=db password='CANARY b' dbname=shop"
php -r '$password = "CANARY"; f();'
php -r "define('DB_PASSWORD', 1); $c['password'] => 'CANARY';"
echo 'password: CANARY' > /x
{"secret":"CANARY"}
password: CANARY
Server=db;Uid=sa;Pwd=CANARY;Database=x
mysql -e "CREATE USER a IDENTIFIED BY 'CANARY'"
mysql -e "ALTER USER a IDENTIFIED WITH mysql_native_password BY 'CANARY'"
psql -c "ALTER USER a PASSWORD 'CANARY'"
machine h login u password CANARY
"""

_STDIN = """
* * * * * root passwd bob%CANARY%CANARY
0 1 * * * root docker login --password-stdin -u a%CANARY
0 1 * * * sudo -S mount /x%CANARY
echo CANARY | sudo -S mount /x
echo 'CANARY' | docker login -u a --password-stdin
echo bob:CANARY | chpasswd
printf '%s' CANARY | kinit bob
chpasswd <<< bob:CANARY
gpg --passphrase-fd 0 -d x%CANARY
echo CANARY | gpg --batch --passphrase-fd 0 -d x
"""

_FURTHER = """
mysql --password CANARY -u root
mysql -u root --password=CANARY
mysql -uroot -pCANARY -h db -e "select 1"
mysqldump --opt -Q -u root "-pCANARY" shop
mysqldump --opt -Q -u root '-pCANARY' shop
mysqldump -u "root" -p"CANARY" shop
/usr/local/mysql/bin/mysqldump -pCANARY x
nice -n19 mysqldump -u root -pCANARY --all-databases | gzip -9 > /x
$(which mysql) -pCANARY
`which mysqldump` -u root -pCANARY db
MYSQL="mysql -u root -pCANARY"
echo "select 1" | mysql -u root -pCANARY shop
cd /tmp; mysqldump -pCANARY a; ls
if true; then mysql -pCANARY; fi
{ mysql -pCANARY; }
( mysql -pCANARY )
mysql -pCANARY>/dev/null
mysql -pCANARY&
mysqladmin -pCANARY;ls
curl --basic -u user:CANARY -X POST https://x/y
curl -X POST -u "user:CANARY" https://x/y
curl -sS --user 'user:CANARY' -o /dev/null https://x
curl -vu user:CANARY x
curl --digest --user user:CANARY x
curl -H "X-API-KEY:CANARY" x
curl -H "x-api-key: CANARY" -H 'Accept: */*' x
curl -H "Authorization: token CANARY" x
curl -H "Authorization: ApiKey CANARY" x
curl -H "Authorization: GenieKey CANARY" x
curl -H "Authorization: AWS4-HMAC-SHA256 Credential=CANARY" x
curl -H "Api-Token: CANARY" x
curl -H "X-Auth: CANARY" x
curl -H "X-Secret: CANARY" x
curl -H "apikey: CANARY" x
curl -H "Cookie: a=b; session=CANARY" x
curl -d "user=a&pass=CANARY" x
curl -d user=a -d pass=CANARY x
curl --data-urlencode "password=CANARY" x
curl -F "api_key=CANARY" x
curl "ftp://u:CANARY@h/" -T f
wget --user=a --password=CANARY x
wget "http://x/cron.php?key=CANARY"
wget -O- http://u:CANARY@x:80/
lynx -auth=u:CANARY http://x
w3m http://u:CANARY@x
links -source "http://x/cron?token=CANARY"
php /x/cron.php token=CANARY
php /x/cron.php secret:CANARY
php -d x=y /x --key=CANARY
php artisan x --secret CANARY --foo
python3 x.py --password "CANARY" --user a
python3 x.py -password CANARY
python3 x.py --pwd=CANARY
python3 x.py --client_secret CANARY
python3 x.py --auth-token=CANARY
python3 x.py --bearer-token CANARY
python3 x.py --access_key=CANARY
python3 x.py --secretkey CANARY
python3 x.py --private-key=CANARY
python3 x.py --mysql-password CANARY
python3 x.py --dsn mysql://u:CANARY@h/d
node x.js --apiToken=CANARY
node x.js --apiKey CANARY
java -Dpassword=CANARY -jar x
java -jar x --spring.datasource.password=CANARY
export DB_PASS=CANARY && ./x
DB_PASSWORD='CANARY' ./x
set -a; PASSWORD="CANARY"; ./x
env -i PGPASSWORD=CANARY pg_dump x
PGPASSWORD=CANARY pg_dump -h h -U u d | gzip > f
PGPASSWORD="CANARY" /usr/bin/psql -h h
su - app -c 'PGPASSWORD=CANARY psql'
sudo -u app env TOKEN=CANARY ./x
AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPL AWS_SECRET_ACCESS_KEY=CANARY aws s3 ls
B2_APPLICATION_KEY=CANARY restic x
AZURE_STORAGE_KEY=CANARY x
RCLONE_CONFIG_PASS=CANARY rclone x
VAULT_TOKEN=CANARY vault x
NPM_TOKEN=CANARY npm x
TELEGRAM_BOT_TOKEN=CANARY x
STRIPE_API_KEY=CANARY x
SENDGRID_API_KEY=CANARY x
JWT_SECRET=CANARY x
SESSION_SECRET=CANARY x
HTTP_BASIC_AUTH=u:CANARY x
HTTPS_PROXY=http://u:CANARY@proxy:3128 curl x
https_proxy=http://u:CANARY@proxy curl x
sshpass -p"CANARY" ssh x
sshpass -p 'CANARY' ssh -o StrictHostKeyChecking=no u@h "ls"
/usr/bin/sshpass -p CANARY rsync -e ssh a b
expect -c 'spawn ssh u@h; send "CANARY\\\\r"'
ftp -u ftp://u:CANARY@h/x f
lftp -e "put x; bye" -u u,CANARY h
lftp ftp://u:CANARY@h
ncftpget -u u -p CANARY h . f
smbclient //h/s -U 'u%CANARY' -c 'put x'
mount.cifs //h/s /m -o user=u,pass=CANARY
mount -t davfs https://h /m -o username=u,password=CANARY
RSYNC_PASSWORD=CANARY rsync x
openssl enc -k CANARY -in x
openssl aes-256-cbc -salt -in f -out g -pass pass:CANARY
gpg --batch --yes --passphrase CANARY -c f
echo CANARY | gpg --batch --passphrase-fd 0 -c f
zip -P "CANARY" x y
zip -er -P CANARY x y
7z a -p"CANARY" x y
7z a x.7z y -pCANARY -mhe
tar cz x | openssl enc -aes256 -k CANARY > f
redis-cli -h h -p 6379 -a CANARY flushall
redis-cli -u redis://u:CANARY@h
mongodump --host h -u u -p CANARY --authenticationDatabase admin
mongodump -u u -p"CANARY"
mongo "mongodb://u:CANARY@h/d"
ldapsearch -D x -w CANARY
ldapsearch -D x -w "CANARY" -b y
sqlplus u/CANARY@d @x
sqlplus -s u/CANARY
docker login -u u -pCANARY r
docker login -u u --password=CANARY r
docker run -e PASSWORD=CANARY x
docker run -e "PASSWORD=CANARY" x
docker exec -e PGPASSWORD=CANARY db pg_dump
kubectl create secret generic x --from-literal=password=CANARY
helm install x --set db.password=CANARY,foo=bar
ansible-playbook x -e "ansible_password=CANARY"
ansible all -e ansible_become_pass=CANARY
svn update --username u --password CANARY --non-interactive
git push https://u:CANARY@h/r.git
git clone https://oauth2:CANARY@h/r.git
hg pull https://u:CANARY@h/r
mailx -S smtp-auth-password=CANARY -s x a@b
sendEmail -f a -t b -xu u -xp CANARY
swaks --to a --auth-password CANARY
snmpwalk -v3 -A CANARY -X other h
ipmitool -I lanplus -H h -U u -P CANARY chassis status
htpasswd -bc f u CANARY
mosquitto_pub -h h -u u -P CANARY -t t -m m
influx -username u -password CANARY -execute x
net rpc -U u%CANARY
xfreerdp /p:CANARY /u:u
winexe -U u%CANARY //h cmd
aria2c --http-passwd=CANARY x
youtube-dl -u u -p CANARY x
borg create ssh://u:CANARY@h/./r::a /x
restic -r rest:https://u:CANARY@h/ backup
duplicity /x ftp://u:CANARY@h/y
rclone copy x :sftp,user=u,pass=CANARY:y
s3cmd --secret_key=CANARY ls
aws configure set aws_secret_access_key CANARY
gsutil -o Credentials:gs_secret_access_key=CANARY ls
bash -c "export TOKEN=CANARY; ./x"
eval "PASSWORD=CANARY ./x"
printf 'u:CANARY' | base64
echo "machine h login u password CANARY" > ~/.netrc
echo 'CANARY' | sudo -S ls
echo CANARY | su - root -c x
echo CANARY | kinit u@R
echo "u:CANARY" | chpasswd
usermod -p CANARY u
useradd -p CANARY u
passwd --stdin u <<< CANARY
"""

# Keys whose own shape gives them away, put together here so that no scanner takes this file for a leak.
_BODY = "Q7w2Er5Ty8Ui1Op4"
SHAPES = (
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + _BODY * 2,
    "gho_" + _BODY * 2,
    "github_pat_" + _BODY * 3,
    "glpat-" + _BODY + "zzzz",
    "xoxb-" + "123456789012-" + _BODY,
    "sk_live_" + _BODY * 2,
    "rk_live_" + _BODY * 2,
    "sk-ant-api03-" + _BODY * 3,
    "AIza" + (_BODY * 3)[:35],
    "npm_" + (_BODY * 3)[:36],
    "SG." + _BODY + "." + _BODY * 2,
    "hvs." + _BODY * 2,
    "123456789:AA" + (_BODY * 3)[:33],
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + _BODY * 2,
    "wJalrXUtnFEMI7K7MDENGbPxRfiCY2EXAMPLEKEY9",
    "hf_" + _BODY * 2,
)
SHAPE_FRAMES = ("{}", "curl -d x={} h", "job '{}' -v", '* * * * * root /usr/bin/job "{}"')


def forms() -> list[str]:
    """Every form, with the canary in place."""
    lines = "\n".join((_URLS, _OPTIONS, _VARIABLES, _STDIN, _FURTHER)).splitlines()
    return [line.replace("CANARY", CANARY) for line in lines if line.strip()]
